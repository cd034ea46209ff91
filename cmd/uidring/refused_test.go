package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

// What cannot be done is one line on standard error, nothing on standard output,
// and leaves no file. Wrong use adds where to find help.
func TestRefused(t *testing.T) {
	clitest.Elsewhere(t)
	need.Must(t, os.WriteFile("file", nil, 0o600))
	const unavailable = "mysql://root:hush@127.0.0.1:1/app"
	for _, tt := range []struct {
		args string
		code int
		want []string // in the error
	}{
		{"nosuch", 2, []string{`"nosuch"`}},
		{"gem", 2, []string{`"gem"`, "Did you mean this? gen"}},
		{"--nosuch", 2, []string{"--nosuch"}},
		{"help nosuch", 2, []string{`"nosuch"`}},
		{"help gen nosuch", 2, []string{`"gen nosuch"`}},
		{"completion nosuch", 2, []string{`"nosuch"`, `"uidring completion"`}},
		{"completion bash nosuch", 2, []string{`"nosuch"`}},

		{"gen --nosuch", 2, []string{"--nosuch"}},
		{"gen 5", 2, []string{`gen takes no arguments, got "5"`}},
		{"gen -n", 2, []string{"needs an argument", "-n"}},
		{"backfill", 2, []string{`"column", "key", "table", "time"`}},
		{"gen -n -1", 2, []string{`"-1"`, "--count", "from 0"}},
		{"gen -n 9223372036854775808", 2, []string{"9223372036854775808", "to 9223372036854775807"}},
		{"gen --layout nosuch", 2, []string{`"nosuch"`, "31/16/16", "baidu"}},
		{"gen --layout 28/22/14", 2, []string{`flag: TimeBits + WorkerBits`, "64", "at most 63"}},
		{"gen --layout baidu", 2, []string{"2024-11-20T21:24:16Z", "run out"}},
		{"gen --layout baidu --generator default", 2, []string{"2024-11-20T21:24:16Z"}},
		{"gen --layout 28/22/13,epoch=2500-01-01", 2, []string{"2500-01-01", "want no later than now, 2"}},
		{"gen --boost-power 0", 2, []string{`"0"`, "1 to 20"}},
		{"gen --boost-power 20 --layout 10/1/50", 2, []string{"--boost-power is 20", "50"}},
		{"gen --padding-factor 100", 2, []string{`"100"`, "1 to 99"}},
		{"gen --max-borrow soon", 2, []string{`"soon"`}},
		{"parse -5", 2, []string{"-5 is not a flag", "uidring parse -- -5"}},
		{"gen --generator fast", 2, []string{`"fast"`, "cached or default"}},
		{"gen --generator default --boost-power 3", 2, []string{"--boost-power", "--generator cached"}},
		{"gen --generator default --padding-factor 50", 2, []string{"--padding-factor", "--generator cached"}},
		{"gen --generator default --max-age 1h", 2, []string{"--max-age", "--generator cached"}},
		{"gen --max-age 0", 2, []string{"--max-age is 0s, want 10ms or more, or a negative one"}},
		{"gen --max-age 9ms", 2, []string{"--max-age is 9ms, want 10ms or more"}},
		{"gen --boost-power 17", 2, []string{"uidring: --boost-power is 17, want at most 16", "never fills with --max-borrow 24h0m0s and --max-age 1m0s"}},
		{"gen --max-age old", 2, []string{`"old"`, "--max-age"}},
		{"gen --generator default --max-borrow 1h", 2, []string{"--max-borrow", "--generator cached"}},
		{"gen --worker nosuch", 2, []string{`"nosuch"`, "lease, registry, or static:N"}},
		{"gen --worker Lease", 2, []string{`"Lease"`, "lease, registry, or static:N"}},
		{"gen --worker lease:1", 2, []string{`"lease:1"`, "lease, registry, or static:N"}},
		{"gen --worker static", 2, []string{`"static"`, "0 or more"}},
		{"gen --worker static:", 2, []string{`"static:"`, "0 or more"}},
		{"gen --worker static:-1", 2, []string{`"static:-1"`}},
		{"gen --worker static:9223372036854775808", 2, []string{`"static:9223372036854775808"`, "0 or more"}},
		{"gen --worker static:65536", 2, []string{"65536", "0 to 65535"}},
		{"gen --worker static:1 --layout fleet --dsn x.db", 2, []string{"--dsn", "static:1"}},
		{"gen --dsn oracle://db/app", 2, []string{"--dsn", `"oracle"`, "sqlite:"}},
		{"gen --dsn=", 2, []string{"--dsn", "empty"}},
		{"gen --dsn " + unavailable, 1, []string{"--dsn", "mysql://root@127.0.0.1"}},

		{"parse --layout baidu,epoch=tomorrow 1", 2, []string{`"tomorrow"`, "--layout", "RFC 3339"}},
		{"parse --json --uid-generator 1", 2, []string{"[json uid-generator] were all set"}},
		{"parse --vesta --json 1", 2, []string{"json", "vesta"}},
		{"parse --vesta --layout baidu 1", 2, []string{"layout", "vesta"}},
		{"parse 0", 1, []string{"not an id: 0 stands for an id that is not set"}},
		{"parse 0 --vesta", 1, []string{"not an id: 0 stands"}},
		{"parse one", 1, []string{`"one"`, "decimal number"}},

		{"layout nosuch", 2, []string{`"nosuch"`, "31/16/16"}},
		{"layout 28/5+18/13", 2, []string{"28 + 23 + 13 = 64"}},
		{"layout 1 2", 2, []string{`arguments ["1" "2"]: want at most one layout, such as fleet`}},
		{"layout fleet --dsn a.db", 2, []string{"--dsn finds the layout", `"fleet"`}},
		{"layout registry --next nosuch", 2, []string{`"nosuch"`, "--next"}},
		{"layout registry --from 2027-01-01", 2, []string{"--from", "--next"}},
		{"layout registry --since 2027-01-01", 2, []string{"--since", "--next"}},
		{"layout registry --used 5", 2, []string{"--used", "--next"}},
		{"layout registry --next js-safe --used -1", 2, []string{`"-1"`, "--used"}},
		{"layout js-safe --next registry --used 4096", 2, []string{"4096", "0 to 4095"}},
		{"layout registry --next js-safe --from soon", 2, []string{`"soon" for "--from" flag: want a date`}},
		{"layout registry --next js-safe --from 2020-01-01", 2, []string{"has no ids", "2020-01-01"}},
		{"layout --workers 5", 2, []string{"missing [rate years]"}},
		{"layout --workers 0 --years 1 --rate 1", 2, []string{`"0"`, "--workers", "from 1"}},
		{"layout --workers 5 --years 1 --rate 1 registry", 2, []string{"--workers", `"registry"`}},
		{"layout --workers 5 --years 1 --rate 1 --registry", 2, []string{"missing [starts-a-day]"}},
		{"layout --js", 2, []string{"--js", "--workers, --years and --rate"}},
		{"layout registry --sql oracle", 2, []string{`"oracle"`, "--sql", "postgres or mysql or sqlite"}},
		{"layout 28/22/14 --sql mysql", 2, []string{"64", "at most 63"}},
		{"layout registry --sql mysql --json", 2, []string{"[json sql] were all set"}},
		{"layout registry --sql mysql --next js-safe", 2, []string{"next", "sql"}},
		{"layout registry,unit=500us --sql sqlite", 2, []string{"multiples of that"}},
		{"layout registry,unit=100ns --sql mysql", 2, []string{"--sql mysql counts time in 1µs"}},
		{"layout registry,epoch=2026-01-01T00:00:00.0000001Z --sql postgres", 2, []string{"multiples of that"}},
		{"layout 45/10/8 --sql postgres", 2, []string{"before the year 10000"}},
		{"layout 20/20/20,epoch=9999-12-31T23:59:59.9999999Z --sql mysql", 2, []string{"--sql mysql", "multiple"}},
		{"layout registry --next baidu --from 2027-01-01", 2, []string{"epoch=2016-05-20", "has no ids", "2027-01-01"}},

		{"layout change", 2, []string{"--to is missing"}},
		{"layout change --to x", 2, []string{"--to"}},
		{"layout change --to baidu", 2, []string{"2024-11-20"}},
		{"layout change --to 31/16/16,epoch=2090-01-01", 2, []string{"2090-01-01"}},
		{"layout change fleet --to fleet", 2, []string{"fleet"}},
		{"layout change --to fleet --dsn missing.db", 1, []string{"missing.db"}},
		{"layout change --to fleet --dsn etcd://h:2379", 2, []string{"uidringd"}},
		{"layout change --to fleet --dry-run --dsn redis", 2, []string{"redis"}},

		{"workers x", 2, []string{`"x"`}},
		{"workers relase 5", 2, []string{`"relase"`}},
		{"workers --limit -1", 2, []string{`"-1"`, "from 0"}},
		{"workers", 1, []string{"uidring.db", "no such file"}},
		{"workers --dsn no.db", 1, []string{"no.db", "no such file"}},
		{"workers --dsn file", 2, []string{`"file"`, "not an SQLite file"}},
		{"workers --dsn sqlite:file", 1, []string{"no table WORKER_NODE", "no table WORKER_LEASE", "no worker"}},
		{"workers --dsn " + unavailable, 1, []string{"mysql://root@127.0.0.1"}},

		{"workers release", 2, []string{"arguments []", "number"}},
		{"workers release x", 2, []string{`"x"`, "whole number from 0 to 9223372036854775807"}},
		{"workers raise 9999999999999999999", 2, []string{`"9999999999999999999"`, "whole number from 1 to 4611686018427387903"}},
		{"workers release -5", 2, []string{"-5"}},
		{"workers release 1 2", 2, []string{`arguments ["1" "2"]`}},
		{"workers release 1 --limit 5", 2, []string{"--limit"}},
		{"workers release 1", 1, []string{"uidring.db", "no such file"}},
		{"workers --dsn no.db release 1", 1, []string{"--dsn", "no.db", "no such file"}},
		{"workers release 1 --force --dsn sqlite:file", 1, []string{"no table WORKER_LEASE", "no worker"}},

		{"schema mysql postgres", 2, []string{`arguments ["mysql" "postgres"]: want at most one kind of database, such as mysql`}},
		{"docs", 2, []string{"arguments []: want one folder"}},

		{"segments crate orders", 2, []string{`"crate"`}},
		{"segments", 1, []string{"uidring.db", "no such file"}},
		{"segments --table nosuch", 2, []string{`"nosuch"`, "leaf_alloc or sequence"}},
		{"segments create", 2, []string{"arguments []", "tag"}},
		{"segments create orders invoices", 2, []string{`arguments ["orders" "invoices"]`}},
		{"segments create orders --next 0", 2, []string{`"0"`, "--next", "from 1"}},
		{"segments create orders --next 9223372036854775807", 2, []string{"--next 9223372036854775807 leaves no id for orders; the greatest id is 9223372036854775806"}},
		{"segments create orders --step 2147483648", 2, []string{"--step", "1 to 2147483647"}},
		{"segments create " + strings.Repeat("x", 129), 2, []string{"129 bytes", "at most 128"}},
		{"segments set", 2, []string{"arguments []", "tag"}},
		{"segments set orders", 2, []string{"--at-least 1000001"}},
		{"segments set orders --at-least -1", 2, []string{`"-1"`, "--at-least"}},
		{"segments set orders --at-least 5", 1, []string{"uidring.db", "no such file"}},
		{"segments set orders --at-least 5 --dsn sqlite:file", 1, []string{`"orders"`, "uidring segments create orders"}},

		{"gen --segment orders --layout baidu", 2, []string{"--layout", "--segment"}},
		{"gen --segment orders --worker lease", 2, []string{"--worker", "--segment"}},
		{"gen --segment orders --generator default", 2, []string{"--generator", "--segment"}},
		{"gen --segment orders --json", 2, []string{"--json", "--segment"}},
		{"gen --segment=", 2, []string{"tag", "empty"}},
		{"gen --table sequence", 2, []string{"--table", "--segment TAG"}},
		{"gen --segment orders", 1, []string{"uidring.db", "no such file"}},
		{"gen --segment orders --dsn sqlite:file", 1, []string{`"orders"`, "uidring segments create orders"}},

		{"version x", 2, []string{`"x"`}},
		{"bench x", 2, []string{`"x"`}},
		{"bench --duration 0s", 2, []string{"--duration is 0s, want 1ms or more"}},
		{"bench --duration 5", 2, []string{`"5"`, "--duration"}},
		{"bench --count 0", 2, []string{`"0"`, "--count", "1 to 1000"}},
		{"bench --boost-power 0", 2, []string{"--boost-power", "1 or more"}},
		{"bench --padding-factor 100", 2, []string{"--padding-factor is 100"}},
		{"bench --layout baidu", 2, []string{"2024-11-20T21:24:16Z"}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got := uidring.Invoke(t, "", strings.Fields(tt.args)...)
			lines := strings.Split(got.Stderr, "\n")
			if got.Code != tt.code || got.Stdout != "" || !strings.HasPrefix(got.Stderr, "uidring: ") || len(lines) != tt.code+1 {
				t.Errorf("%+v; want code %d and a line of error", got, tt.code)
			}
			if tt.code == 2 && (!strings.HasPrefix(lines[1], "See 'uidring") || !strings.HasSuffix(lines[1], " --help'.")) {
				t.Errorf("%q, want where to find help", lines[1])
			}
			clitest.Wants(t, lines[0], tt.want...)
			if regexp.MustCompile(`it is \S*\.\d+Z`).MatchString(got.Stderr) {
				t.Errorf("%q has parts of a second", got.Stderr)
			}
			if strings.Count(got.Stderr, "invalid layout") > 1 || strings.Contains(got.Stderr, "bits: ") || strings.Contains(got.Stderr, "lease.") {
				t.Errorf("%q names the package or says twice that the layout is invalid", got.Stderr)
			}
			if strings.Contains(got.Stderr, "hush") {
				t.Errorf("%q shows the password", got.Stderr)
			}
		})
	}
	info, err := os.Stat("file")
	if left, _ := filepath.Glob("*"); err != nil || info.Size() > 0 || len(left) != 1 {
		t.Errorf("%q are there, want an empty file (%v)", left, err)
	}
}
