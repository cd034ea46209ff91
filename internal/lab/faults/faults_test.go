//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		sound            bool
	}{
		{"sums.go\t.:TestSum\ts/total += n/total -= n/", "", "caught sums.go: s/total += n/total -= n/", true},
		{"# a comment\n\nsums.go\t.:TestEmpty ./inner\ts/{ return true }/{ return false }/", "", "caught sums.go: s/{ return true }/{ return false }/", true},
		{"text.txt\t.:TestText\ts/text/words/", "", "caught text.txt: s/text/words/", true},
		{"inner/inner.go\t.\ts/return 1/return 2/", "", "caught inner/inner.go: s/return 1/return 2/", true},
		{"inner/inner.go\t.\ts/return 1/return 2/\nnone.go\t.\ts/a/b/", "return", "caught inner/inner.go: s/return 1/return 2/", true},
		{"sums.go\t.:TestEmpty\ts/total += n/total -= n/", "", "MISSED sums.go: s/total += n/total -= n/", false},
		{"sums.go\t.:TestSum\ts/no such text/text/", "", "STALE sums.go: s/no such text/text/", false},
		{"sums.go\t.:TestSum\ts/total += n/total += n + m/", "", "STALE sums.go: s/total += n/total += n + m/", false},
		{"sums.go\t.:TestSum\ts/unclosed", "", "STALE sums.go: s/unclosed", false},
		{"none.go\t.:TestSum\ts/a/b/", "", "STALE none.go: s/a/b/", false},
		{"sums.go\t.:TestAlwaysFails\ts/total += n/total -= n/", "", "UNSOUND . . fails without a fault", false},
		{"# nothing", "", "0 caught, 0 missed, 0 stale", false},
	} {
		list := filepath.Join(t.TempDir(), "faults.txt")
		need.Must(t, os.WriteFile(list, []byte(test.line+"\n"), 0o600))
		var out bytes.Buffer
		sound, err := check(t.Context(), repository, list, test.only, &out)
		begins := func(line string) bool { return strings.HasPrefix(line, test.want) }
		if err != nil || sound != test.sound || !slices.ContainsFunc(strings.Split(out.String(), "\n"), begins) {
			t.Errorf("%q: sound is %t, the error %v, the output %q; want %t, none and %q", test.line, sound, err, &out, test.sound, test.want)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse(".", "a.go\t./b:TestB ./c\ts/x\ty/z/\n\nd.go\t.\ts/x/y/\n", "x\ty")
	if err != nil || len(got) != 1 || got[0].script != "s/x\ty/z/" || !slices.Equal(got[0].targets, []target{{".", "./b", "TestB"}, {".", "./c", ""}}) {
		t.Errorf("got %v and %v", got, err)
	}
	if _, err := parse(".", "a.go s/x/y/", ""); err == nil {
		t.Error("a line without tabs is no error")
	}
}
