package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFaults checks a list on a small module, with a fault of each kind.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name  string
		list  []string
		want  []string // sorted
		sound bool
	}{
		{"all", []string{
			"# a comment", "",
			"sums.go\t.\ts/total += n/total -= n/",
			"sums.go\t.\ts/{ return true }/{ return false }/",
			"sums.go\t.:TestSum\ts/least = 1/least = 7/",
			"sums.go\t.:TestEmpty\ts/total += n/total += 2*n/",
			"sums.go\t.:TestNoSuch\ts/total += n/total += 3*n/",
			"text.txt\t.\ts/text/words/",
			"inner/inner.go\t.\ts/return 1/return 2/",
		}, []string{
			"7 caught, 0 missed, 0 stale",
			"SKIPPED TestAlwaysFails of .: it fails without a fault",
			"caught  inner/inner.go: s/return 1/return 2/ (--- FAIL: TestOne)",
			"caught  sums.go: s/least = 1/least = 7/ (--- FAIL: TestSum)",
			"caught  sums.go: s/total += n/total += 2*n/ (--- FAIL: TestSum)",
			"caught  sums.go: s/total += n/total += 3*n/ (--- FAIL: TestSum)",
			"caught  sums.go: s/total += n/total -= n/ (--- FAIL: TestSum)",
			"caught  sums.go: s/{ return true }/{ return false }/ (--- FAIL: TestEmpty)",
			"caught  text.txt: s/text/words/ (--- FAIL: TestText)",
		}, true},
		{"missed and stale", []string{
			"sums.go\t.\ts/total += n/total -= n/",
			"sums.go\t.\ts/return 1/return 2/",
			"sums.go\t.\ts/no such text/text/",
			"sums.go\t.\ts/total += n/total += n + m/",
			"sums.go\t.\ts/least = 1/least = 1 +/",
			"sums.go\t.\ts/(unclosed/text/",
			"sums.go\t.\ts/unclosed",
			"none.go\t.\ts/a/b/",
		}, []string{
			"1 caught, 1 missed, 6 stale",
			"MISSED  sums.go: s/return 1/return 2/",
			"SKIPPED TestAlwaysFails of .: it fails without a fault",
			"STALE   none.go: s/a/b/ (there is no such file)",
			"STALE   sums.go: s/(unclosed/text/ (it changes nothing)",
			"STALE   sums.go: s/least = 1/least = 1 +/ (it does not compile: syntax error: unexpected keyword var, expected expression)",
			"STALE   sums.go: s/no such text/text/ (it changes nothing)",
			"STALE   sums.go: s/total += n/total += n + m/ (it does not compile: fault4.go:15: undefined: m)",
			"STALE   sums.go: s/unclosed (sed: -e expression #1, char 10: unterminated `s' command)",
			"caught  sums.go: s/total += n/total -= n/ (--- FAIL: TestSum)",
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			faults, err := parse(strings.Join(test.list, "\n"), "")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			r := &run{repository: t.TempDir(), scratch: t.TempDir(), faults: faults, out: &out}
			if err := os.CopyFS(r.repository, os.DirFS("testdata/module")); err != nil {
				t.Fatal(err)
			}
			sound, err := r.check(t.Context())
			if err != nil || sound != test.sound {
				t.Errorf("sound is %t and the error %v, want %t and none", sound, err, test.sound)
			}
			got := strings.Split(strings.TrimSpace(out.String()), "\n")
			slices.Sort(got)
			for _, f := range faults {
				if caught := strings.Contains(out.String(), "caught  "+f.String()); caught != (f.targets[0].test != "" && f.ended) {
					t.Errorf("%s is to be caught by %q", f, f.targets[0].test)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestParse(t *testing.T) {
	got, err := parse("a.go\t./b:TestB ./c\ts/x\ty/z/\n\nd.go\t.\ts/x/y/\n", "x\ty")
	if err != nil || len(got) != 1 || got[0].script != "s/x\ty/z/" || !slices.Equal(got[0].targets, []target{{name: "./b", test: "TestB"}, {name: "./c"}}) {
		t.Errorf("got %v and %v", got, err)
	}
	if _, err := parse("a.go s/x/y/", ""); err == nil {
		t.Error("a line without tabs is no error")
	}
}

// The list gets the tests that fail, and keeps all else.
func TestRewrite(t *testing.T) {
	const list = "# a comment\n\na.go\t./b ./c\ts/x\ty/z/\nd.go\t.:TestD\ts/x/y/\n"
	faults, err := parse(list, "a.go")
	if err != nil {
		t.Fatal(err)
	}
	faults[0].targets[1].test = "TestC"
	if got, want := rewrite(list, faults), strings.Replace(list, "./c", "./c:TestC", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The test that catches a fault is the one that fails, or the one that does not end.
func TestCulprit(t *testing.T) {
	for said, want := range map[string]string{
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.10s)\n    b_test.go:1: wrong\nFAIL\n":                                                    "TestB",
		"panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestC/sub (1m0s)\n\ngoroutine 1":                                                              "TestC",
		"panic: wrong\n\ngoroutine 20 [running]:\nexample.com/a.use()\n\t/a/a.go:1 +0x1\nexample.com/a.TestMain(0x0)\nexample.com/a/b_test.TestD.func1(0x0)\n": "TestD",
		"goleak: Errors on successful test run: found unexpected goroutines\n":                                                                                 "",
	} {
		if got := culprit(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// One test has half a minute more than four times its time, and never longer than all have.
func TestLimit(t *testing.T) {
	of := &tests{limit: 5 * time.Minute, took: map[string]time.Duration{"TestA": 15 * time.Second, "TestB": 2 * time.Minute}}
	for pattern, want := range map[string]time.Duration{"^TestA$": 90 * time.Second, "^TestB$": of.limit, "^TestC$": of.limit, all: of.limit} {
		if got := of.limitOf(pattern); got != want {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
}
