//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// TestFaults checks lists on a small repository, with a line of each kind.
func TestFaults(t *testing.T) {
	need.CI(t)
	repository := t.TempDir()
	need.Must(t, os.CopyFS(repository, os.DirFS("testdata/module")))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"}} {
		if said, err := exec.Command("git", append([]string{"-C", repository}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	for _, test := range []struct {
		line, only, want string
		stale            string // what -stale says
	}{
		{"sums.go\t.:TestSum\ts/total += n/total -= n/", "", "caught", ""},
		{"# a comment\n\nsums.go\t.:TestEmpty ./inner\ts/{ return true }/{ return false }/", "", "caught", ""},
		{"text.txt\t.:TestText\ts/text/words/", "", "caught", ""},
		{"inner/inner.go\t.\ts/return 1/return 2/", "", "caught", ""},
		{"inner/inner.go\t.\ts/return 1/return 2/\nnone.go\t.\ts/a/b/", "return", "caught", ""},
		{"sums.go\t.:TestEmpty\ts/total += n/total -= n/", "", "MISSED", ""},
		{"sums.go\t.:TestNone\ts/total += n/total -= n/", "", "MISSED", ". has no test TestNone"},
		{"sums.go\t.:TestSum\ts/no such text/text/", "", "STALE", "the script changes nothing"},
		{"sums.go\t.:TestSum\ts/total += n/total += n + m/", "", "STALE", "sums.go:6:16: undefined: m"},
		{"sums.go\t.:TestSum\ts/total += n/total +=/", "", "STALE", "sums.go:7:"},
		{"sums.go\t.:TestSum\ts/unclosed", "", "STALE", "sed: "},
		{"none.go\t.:TestSum\ts/a/b/", "", "STALE", "no such file"},
		{"sums.go\t.:TestAlwaysFails\ts/total += n/total -= n/", "", "UNSOUND", ""},
		{"# nothing", "", "0 caught, 0 missed, 0 stale", "0 tried, 0 stale"},
	} {
		name := filepath.Join(t.TempDir(), "faults.txt")
		need.Must(t, os.WriteFile(name, []byte(test.line+"\n"), 0o600))
		for dry, want := range map[bool]string{false: test.want, true: test.stale} {
			var out bytes.Buffer
			sound, err := run(t.Context(), repository, name, test.only, dry, &out)
			if err != nil || sound != (want == "caught" || want == "") || !strings.Contains(out.String(), want) {
				t.Errorf("%q, dry %t: sound is %t, the error %v, the output %q; want %q", test.line, dry, sound, err, &out, want)
			}
		}
	}
}

// A script may have tabs, and a line has to have them.
func TestParse(t *testing.T) {
	if got, err := parse(".", "a.go\t./b:TestB ./c\ts/x\ty/z/\n", ""); err != nil || got[0].script != "s/x\ty/z/" {
		t.Errorf("got %v and %v", got, err)
	}
	if _, err := parse(".", "a.go s/x/y/", ""); err == nil {
		t.Error("a line without tabs is no error")
	}
}
