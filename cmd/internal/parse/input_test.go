package parse_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/layout"
	"github.com/uidring/uidring/cmd/internal/parse"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

// An id is read in the form that --form names, in which gen writes it.
func TestParseForms(t *testing.T) {
	clitest.Elsewhere(t)
	const id = uid.ID(22265110462791687) // of the layout fleet, from March 2026
	key := []byte("0123456789abcdef0123456789abcdef")
	need.Must(t, os.WriteFile("key.hex", fmt.Appendf(nil, "%x\n", key), 0o600))
	sealer, err := opaque.New("orders", key)
	need.Must(t, err)
	token, err := sealer.Seal(id)
	need.Must(t, err)
	want := uidring.Succeed(t, "parse", id.String(), "--layout", "fleet")
	for flags, text := range map[string]string{
		"--form decimal":  id.String(),
		"--form base32":   id.Base32(),
		"--form base62":   id.Base62(),
		"--form reversed": fmt.Sprint(bits.Reverse(int64(id))),
		"--form token --token-key key.hex --token-context orders": token.String(),
	} {
		uidring.Print(t, want, strings.Fields("parse --layout fleet "+flags+" "+text)...)
		ids := clitest.Of(clitest.SQL(gen.New)).Succeed(t, strings.Fields("gen -n 3 --worker static:9 "+flags)...)
		if got := uidring.Invoke(t, ids, strings.Fields("parse --json "+flags)...); got.Code != 0 || strings.Count(got.Stdout, `"worker":9,`) != 3 {
			t.Errorf("%s: %s: %+v", flags, ids, got)
		}
	}
	uidring.Print(t, want, "parse", "--layout", "fleet", "--form", "base32", strings.ToLower(id.Base32()))
	uidring.Fail(t, 1, "not authentic", "parse", "--form", "token", "--token-key", "key.hex", "--token-context", "users", token.String())
	for text, form := range map[string]string{id.Base32(): "base32", id.Base62(): "base62", token.String(): "token"} {
		uidring.Fail(t, 1, "add --form "+form+"\n", "parse", text)
	}
}

// Numbers as spreadsheets and other programs write them are refused, with advice. They are never read as base32 or base62.
func TestParseSpellings(t *testing.T) {
	const lost, float, groups, quotes = "has rounded this number", "was a floating-point number", "separators between groups", "quotation marks"
	for text, want := range map[string]string{
		"8.96951E+17": lost, "8,96951E+17": lost, "9E+17": lost, "8.9695074402E+17": lost, `"8.96951E+17"`: lost, "8.96950744028951464e17": lost, "896950744028951e3": lost,
		"896950744028951464.0": float, "896950744028951464,00": float, "896950744028951464.00": float,
		"896,950,744,028,951,464": groups, "896.950.744.028.951.464": groups, "896 950 744 028 951 464": groups, "896'950'744'028'951'464": groups,
		"896_950_744_028_951_464": groups, "896\u00a0950\u00a0744": groups, "896\u202f950": groups, `"896,950"`: groups, "1,000": groups,
		`"896950744028951464"`: quotes, "'896950744028951464": quotes, "896950744028951464,": quotes, "“896950744028951464”": quotes,
		"8969507-4402": "want a decimal number", "896.95074402": "want a decimal number", "896950744028.": "want a decimal number", "": "",
	} {
		got := uidring.Invoke(t, text+"\n", "parse")
		if !strings.Contains(got.Stderr, want) || strings.Contains(got.Stderr, "--form") || got.Stdout != "" || (got.Code == 0) != (text == "") {
			t.Errorf("%q: %+v, want %q", text, got, want)
		}
		if again := uidring.Invoke(t, text+"\n", "parse", "--form", "reversed"); again.Stderr != got.Stderr {
			t.Errorf("%q: --form reversed says %q, want %q", text, again.Stderr, got.Stderr)
		}
	}
}

// What is wrong with a key is said without a part of it.
func TestParseKeys(t *testing.T) {
	clitest.Elsewhere(t)
	need.Must(t, os.WriteFile("short", []byte("abcdef0123"), 0o600))
	for args, want := range map[string]string{
		"--form token":                   "needs --token-key and --token-context",
		"--form token --token-key short": "needs --token-key and --token-context",
		"--token-key short":              "are for --form token",
		"--form token --token-key short --token-context orders":       "want 64 hexadecimal digits",
		"--form token --token-key nosuch.file --token-context orders": "nosuch.file",
		"--form base64": "decimal or base32 or base62 or reversed or token",
	} {
		got := uidring.Invoke(t, "", append(strings.Fields("parse 1 "+args), "--")...)
		if got.Code == 0 || got.Stdout != "" || !strings.Contains(got.Stderr, want) || strings.Contains(got.Stderr, "abcdef") {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
}

// A byte order mark, Windows' ends of lines and the argument - are understood. Without an id, no database is asked.
func TestParseInput(t *testing.T) {
	want := uidring.Succeed(t, "parse", "5313046343901185", "5313046343901186", "--layout", "fleet")
	for _, stdin := range []string{"5313046343901185\n5313046343901186\n", "\ufeff5313046343901185\r\n5313046343901186", "\ufeff\n5313046343901185\n\n5313046343901186\n"} {
		for _, args := range [][]string{{"parse"}, {"parse", "-"}} {
			if got := uidring.Invoke(t, stdin, append(args, "--layout", "fleet")...); got != (clitest.Outcome{Stdout: want}) {
				t.Errorf("%q: %+v, want %s", stdin, got, want)
			}
		}
	}
	if got := uidring.Invoke(t, "5313046343901186\n", "parse", "5313046343901185", "-"); got.Stdout != want {
		t.Errorf("%+v, want %s", got, want)
	}
	for _, stdin := range []string{"", "\n", " \r\n\n"} {
		if got := uidring.Invoke(t, stdin, "parse", "--dsn", "missing.db"); got != (clitest.Outcome{}) {
			t.Errorf("%q: %+v, want nothing", stdin, got)
		}
	}
	if got := uidring.Invoke(t, "\xff\xfe1\x00\n\x00", "parse"); got.Code != 1 || !strings.Contains(got.Stderr, "UTF-16") {
		t.Errorf("%+v, want a word on UTF-16", got)
	}
}

// Of many wrong ids the first are reported, and the others counted.
func TestParseBinary(t *testing.T) {
	got := uidring.Invoke(t, strings.Repeat("x\x1b[31m\n", 250)+"5313046343901185\n", "parse", "--layout", "fleet")
	lines := strings.Split(got.Stderr, "\n")
	if got.Code != 1 || len(lines) != 12 || lines[10] != "uidring: 240 more are not ids" || !strings.Contains(got.Stdout, "\n5313046343901185  ") || strings.Contains(got.Stderr, "\x1b") {
		t.Errorf("%+v", got)
	}
}

// A negative id of uid-generator is explained: its time has run over into the sign.
func TestParseNegative(t *testing.T) {
	a := clitest.Allocator(t, "baidu")
	tick := uint64(1<<28 + 86400)
	id := int64(tick<<35 | 5<<13 | 7)
	for _, got := range []clitest.Outcome{
		uidring.Invoke(t, "", "parse", "--layout", "baidu", "--", fmt.Sprint(id)),
		uidring.Invoke(t, fmt.Sprint(id), "parse", "--layout", "baidu"),
	} {
		if got.Code != 1 || got.Stdout != "" || !strings.Contains(got.Stderr, "layout ends, here on 2024-11-20") || !strings.Contains(got.Stderr, "2024-11-21T21:24:16Z, by worker 5") {
			t.Errorf("%+v, want the day after %v", got, a.Layout().End())
		}
	}
	if got := uidring.Invoke(t, "", "parse", "--layout", "js-safe", "--", "-1"); got.Code != 1 || strings.Contains(got.Stderr, "uid-generator") {
		t.Errorf("%+v, want no explanation: the layout does not reach the sign", got)
	}
}

// Ids whose time, or whose worker number, the layout can hardly have are said to be doubtful, with an exit code
// of their own.
func TestParseDoubtful(t *testing.T) {
	clitest.Elsewhere(t)
	for args, want := range map[string]string{
		"1 2 3":                              "3 doubtful under 31/16/16,epoch=2026-01-01,unit=1s, the first is 1: its time is on the first day",
		"1000000 --json":                     "1 doubtful",
		"1 --layout snowflake":               "1 doubtful",
		"9223372036854775807":                "its time is more than 24 hours in the future",
		"5313046343901185 --layout fleet":    "",
		"5313046343901185 1 --uid-generator": "1 doubtful under 31/16/16,epoch=2026-01-01,unit=1s, the first is 1: ",
		"1 --vesta":                          "",
		"896950744028951464 --layout baidu":  "",
	} {
		got := uidring.Invoke(t, "", append([]string{"parse"}, strings.Fields(args)...)...)
		if code := map[bool]int{true: 3}[want != ""]; got.Code != code || !strings.Contains(got.Stderr, want) || want == "" && got.Stderr != "" || got.Stdout == "" {
			t.Errorf("%s: %+v, want exit code %d and %q", args, got, code, want)
		}
	}
	const fleet = "uidring: read as ids of fleet, 31/16/16,epoch=2026-01-01,unit=1s, since there is no database; for others, add --layout or --dsn\n"
	if got := uidring.Invoke(t, "5313046343901185\n5313046343901186\n", "parse"); got.Code != 0 || got.Stderr != fleet {
		t.Errorf("%+v, want code 0 and %q", got, fleet)
	}
	if got := uidring.Invoke(t, "1\nx\n", "parse", "--layout", "fleet"); got.Code != 1 || strings.Count(got.Stderr, "\n") != 2 {
		t.Errorf("%+v, want exit code 1, since what is not an id is worse", got)
	}
	recent := bits.Fleet()
	recent.Epoch = time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	if got := uidring.Invoke(t, "", "parse", "65537", "--layout", recent.String()); got.Code != 0 {
		t.Errorf("%+v, want no doubt on the layout's first day", got)
	}
}

// The layout is that of an object, or of the database that is named or found. A database that knows none is an error.
func TestParseFindsLayout(t *testing.T) {
	clitest.Elsewhere(t)
	both := clitest.Of(clitest.SQL(parse.New), clitest.SQL(gen.New), clitest.SQL(layout.New))
	run := func(stdin, args string) clitest.Outcome { return both.Invoke(t, stdin, strings.Fields(args)...) }
	reads := func(ids, args string, worker int) { // without doubt, two ids of a worker
		t.Helper()
		if got := run(ids, "parse --json "+args); got.Code != 0 || strings.Count(got.Stdout, fmt.Sprintf(`"worker":%d,`, worker)) != 2 {
			t.Errorf("%s: %+v, want two ids of worker %d", args, got, worker)
		}
	}
	fails := func(ids, args string, code int, want string) {
		t.Helper()
		if got := run(ids, args); got.Code != code || !strings.Contains(got.Stderr, want) || code == 1 && got.Stdout != "" {
			t.Errorf("%s: %+v, want exit code %d and %q", args, got, code, want)
		}
	}
	const long = "--layout 31/20/12"
	ids := run("", "gen -n 2 --worker static:1 --layout fleet").Stdout
	reads(ids, "", 1)
	objects := run("", "gen -n 2 --json --worker static:9 "+long).Stdout
	if got := run(objects+ids, "parse --json"); got.Code != 3 && got.Code != 0 || !strings.HasPrefix(got.Stdout, objects) {
		t.Errorf("objects: %+v, want\n%s", got, objects)
	}
	made := run("", "gen -n 2 --dsn named.db "+long).Stdout
	reads(made, "--dsn named.db", 1)
	reads(made, "--dsn named.db --layout 31/16/16", 0)
	others := run("", "gen -n 1 --worker static:900 "+long).Stdout // of a worker that no database has given
	fails(others, "parse --dsn named.db "+long, 3, "")
	before := run("", "gen --dsn changed.db "+long).Stdout
	run("", "layout change --to fleet --dsn changed.db")
	after := run("", "gen --dsn changed.db").Stdout
	got := run(before+after+before, "parse --json --dsn changed.db")
	if want := regexp.MustCompile(`^.*"worker":1,.*"31/20/12,.*\n.*"worker":2,.*"31/16/16,.*\n.*"worker":1,.*"31/20/12,.*\n$`); got.Code != 0 || !want.MatchString(got.Stdout) ||
		got.Stderr != "uidring: 2 of the layout 31/20/12,epoch=2026-01-01,unit=1s, which the database had before it changed; the first is "+before {
		t.Errorf("ids from before and after a change: %+v", got)
	}
	fails(before, "parse --dsn changed.db --layout fleet", 3, "since the layout changed, worker numbers begin at 2;")
	fails("", "gen --dsn changed.db --worker static:1", 2, "want a worker number from 2 to 65535")
	static := run("", "gen --dsn changed.db --worker static:2").Stdout + run("", "gen --dsn named.db --worker static:1 --json").Stdout
	fails(static, "parse --dsn changed.db", 0, "")
	fails("", "parse --dsn missing.db 1", 1, "there is no such file")
	need.Must(t, os.Rename("named.db", "uidring.db"))
	reads(made, "", 1)
	fails("", "gen --worker static:7", 0, "layout 31/20/12,epoch=2026-01-01,unit=1s (which the database remembers, SQLite file ")
	fails(others, "parse", 3, "the greatest worker number that the database has given is 1;")
	need.Must(t, clitest.Open(t, "uidring.db").Exec("DELETE FROM WORKER_NODE WHERE ID > 0").Error) // pruned: the lease is there
	fails(others, "parse", 3, "")
	run("", "gen --worker registry --dsn nodes.db "+long)
	fails(others, "parse --dsn nodes.db", 3, "")
	need.Must(t, os.WriteFile("uidring.db", nil, 0o600))
	fails(made, "parse", 1, "give --layout")
	need.Must(t, os.WriteFile("uidring.db", []byte("text"), 0o600))
	fails(made, "parse", 1, "not an SQLite file")
}

// The database is asked when the first id is there: parse may stand behind gen in a pipe, and start before it.
func TestParseBehindGen(t *testing.T) {
	clitest.Elsewhere(t)
	ids, write := io.Pipe()
	var making sync.WaitGroup
	making.Go(func() {
		got := clitest.Of(clitest.SQL(gen.New)).Invoke(t, "", "gen", "--dsn", "new.db")
		if got.Code != 0 {
			t.Errorf("gen: %+v", got)
		}
		_, _ = io.WriteString(write, got.Stdout)
		_ = write.Close()
	})
	var stdout, stderr bytes.Buffer
	if code := uidring.Run(t.Context(), ids, &stdout, &stderr, "parse", "--dsn", "new.db"); code != 0 || stdout.Len() == 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &stdout, &stderr)
	}
	making.Wait()
}
