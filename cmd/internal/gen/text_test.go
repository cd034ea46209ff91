package gen_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

// Ids are written in the form that --form names.
func TestGenForms(t *testing.T) {
	clitest.Elsewhere(t)
	key := []byte("0123456789abcdef0123456789abcdef")
	if err := os.WriteFile("key.hex", fmt.Appendf(nil, "%x\n", key), 0o600); err != nil {
		t.Fatal(err)
	}
	sealer, err := opaque.New("orders", key)
	if err != nil {
		t.Fatal(err)
	}
	token := func(text string) (uid.ID, error) {
		token, err := opaque.ParseToken(text)
		if err != nil {
			return 0, err
		}
		return sealer.Open(token)
	}
	a := clitest.Allocator(t, "default")
	for args, read := range map[string]func(string) (uid.ID, error){
		"--form decimal": uid.ParseID,
		"--form base32":  uid.ParseBase32,
		"--form base62":  uid.ParseBase62,
		"--form token --token-key key.hex --token-context orders": token,
	} {
		out := uidring.Succeed(t, append(strings.Fields("gen -n 3 --worker static:9"), strings.Fields(args)...)...)
		if strings.Count(out, "\n") != 3 {
			t.Errorf("%s: %q", args, out)
		}
		for line := range strings.Lines(out) {
			id, err := read(strings.TrimSuffix(line, "\n"))
			if parts, failed := a.Parse(int64(id)); err != nil || failed != nil || parts.Worker != 9 {
				t.Errorf("%s: %q is %d of %+v, %v", args, line, id, parts, err)
			}
		}
	}
	if got := uidring.Invoke(t, "", "gen", "--json", "--form", "base32"); got.Code != 2 || !strings.Contains(got.Stderr, "form json") {
		t.Errorf("%+v", got)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v; want the key alone", files, err)
	}
}

// The first start on a database says that it is, and where.
func TestGenCreates(t *testing.T) {
	dir := clitest.Elsewhere(t)
	for _, tt := range []struct{ source, table string }{{"registry", "WORKER_NODE"}, {"lease", "WORKER_LEASE"}} {
		got := uidring.Invoke(t, "", "gen", "--worker", tt.source, "--dsn", tt.source+".db")
		want := "uidring: created the table " + tt.table + " in SQLite file \"" + dir + "/" + tt.source + ".db\": its worker numbers start from the beginning\n"
		if got.Code != 0 || got.Stderr != want {
			t.Errorf("%+v, want %s", got, want)
		}
		if got := uidring.Invoke(t, "", "gen", "--worker", tt.source, "--dsn", tt.source+".db"); got.Code != 0 || got.Stderr != "" {
			t.Errorf("again: %+v, want silence", got)
		}
	}
}
