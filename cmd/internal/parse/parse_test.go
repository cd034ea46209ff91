package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/parse"
)

// uidring is the command under test.
var uidring = clitest.Of(clitest.SQL(parse.New))

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Vesta's two layouts are told apart by the id, in one stream.
func TestParseVesta(t *testing.T) {
	const want = `{"id":"1073743873","time":"2014-12-31T16:00:01.000Z","machine":1,"sequence":2,"type":0,"method":0}
{"id":"6917529027642135653","time":"2014-12-31T16:00:00.001Z","machine":101,"sequence":5,"type":1,"method":2}
`
	got := uidring.Invoke(t, "1073743873\n6917529027642135653\n-1\n", "parse", "--vesta")
	if got.Code != 1 || got.Stdout != want || !strings.Contains(got.Stderr, "line 3") {
		t.Errorf("%+v, want %s", got, want)
	}
}

// What is in an id is a row of a table, with the parts of the worker number that the layout names,
// an object, or what the original's parseUID prints, byte for byte. Package bits reads all vectors of
// uid-generator.
func TestParseTable(t *testing.T) {
	const parts = "41/datacenter:5+5/12,unit=1ms"
	for _, tt := range []struct{ args, want string }{
		{"896950744028951464 --layout baidu", `
ID                   TIME                  WORKER   SEQUENCE
896950744028951464   2017-03-18T03:18:22Z  1603313  5032
`},
		{"1 1234567890123456789 --layout snowflake", `
ID                   TIME                      WORKER  SEQUENCE
1                    2010-11-04T01:42:54.657Z  0       1  doubtful
1234567890123456789  2020-03-02T19:54:56.824Z  664     277
`},
		{"9223372036854775807 7 --layout 40/10/13", `
ID                   TIME                   WORKER  SEQUENCE
9223372036854775807  36868-02-20T00:36:15Z  1023    8191  doubtful
7                    2026-01-01T00:00:00Z   0       7  doubtful
`},
		{"3 --layout 4/0/1,unit=1us", `
ID  TIME                         WORKER  SEQUENCE
3   2026-01-01T00:00:00.000001Z  0       1  doubtful
`},
		{"3 --layout 4/0/1,unit=1ns", `
ID  TIME                            WORKER  SEQUENCE
3   2026-01-01T00:00:00.000000001Z  0       1  doubtful
`},
		{"3 --layout 4/0/1,epoch=2016-05-20T00:00:00.5+08:00", `
ID  TIME                      WORKER  SEQUENCE
3   2016-05-19T16:00:01.500Z  0       1  doubtful
`},
		{"2719749 4095 --layout " + parts, `
ID                   TIME                      WORKER  DATACENTER  PART2  SEQUENCE
2719749              2026-01-01T00:00:00.000Z  664     20          24     5  doubtful
4095                 2026-01-01T00:00:00.000Z  0       0           0      4095  doubtful
`},
		{"2719749 --json --layout " + parts, `
{"id":"2719749","time":"2026-01-01T00:00:00.000Z","worker":664,"worker_parts":{"datacenter":20,"part2":24},"sequence":5,"layout":"41/datacenter:5+5/12,epoch=2026-01-01,unit=1ms","doubt":"its time is on the first day of the layout"}
`},
		{"2719749 --uid-generator --layout " + parts, `
{"UID":"2719749","timestamp":"2026-01-01 00:00:00","workerId":"664","sequence":"5"}
`},
		{"5313046343901185 --uid-generator --layout baidu", `
{"UID":"5313046343901185","timestamp":"2016-05-21 18:57:10","workerId":"7","sequence":"1"}
`},
	} {
		args := append([]string{"parse"}, strings.Fields(tt.args)...)
		got := uidring.Invoke(t, "", args...)
		if got.Stdout != tt.want[1:] || got.Code != 0 && got.Code != 3 || (got.Stderr == "") != (got.Code == 0) {
			t.Errorf("%s: %+v\nwant%s", tt.args, got, tt.want)
		}
	}
}

// parse reports each line that is not an id, and parses the others.
func TestParseWrongIDs(t *testing.T) {
	long := strings.Repeat("7", 100_000)
	stdin := " 1\t\r\n\n   \n2\nx y\n-3\n9223372036854775808\n" + long + "\n4\n9007199254740992\n" + long + "\n5"
	got := uidring.Invoke(t, stdin, "parse", "--json", "--layout", "js-safe")
	var read []int64
	for line := range strings.Lines(got.Stdout) {
		read = append(read, clitest.Decode[clitest.ParsedJSON](t, line).ID)
	}
	if fmt.Sprint(read) != "[1 2 4 5]" || got.Code != 1 {
		t.Errorf("exit code %d, read %d; want 1 and 1, 2, 4, 5", got.Code, read)
	}
	wants := []string{`line 5: not an id: "x y"`, `line 6: not an id: "-3"`, `line 7: not an id: "9223372036854775808"`,
		"line 8: not an id: \"7777", "line 10: not an id of this layout: 9007199254740992", "line 11: ", "4 doubtful"}
	lines := strings.Split(strings.TrimSuffix(got.Stderr, "\n"), "\n")
	if len(lines) != len(wants) {
		t.Fatalf("%d errors, want %d: %s", len(lines), len(wants), got.Stderr)
	}
	for i, want := range wants {
		if !strings.HasPrefix(lines[i], "uidring: "+want) || len(lines[i]) > 300 {
			t.Errorf("%q, want %q first, and not much more", lines[i], want)
		}
	}

	if got := uidring.Invoke(t, `{"id":5`+"\n", "parse"); got.Code != 1 || !strings.Contains(got.Stderr, "line 1: not an id") {
		t.Errorf("half an object: %+v", got)
	}
	got = uidring.Invoke(t, "", "parse", "one", " 2 ", "", "--", "-4")
	if got.Code != 1 || strings.Count(got.Stdout, "\n") != 2 || strings.Count(got.Stderr, "uidring: not an id: ") != 3 {
		t.Errorf("%+v, want one id read and three not", got)
	}
	if got = uidring.Invoke(t, long, "parse"); got.Code != 1 || got.Stdout != "" {
		t.Errorf("a long line without an end: %d, %q", got.Code, got.Stdout)
	}
}

// On a terminal, errors stand where the id would.
func TestParseOrder(t *testing.T) {
	var screen bytes.Buffer
	uidring.Run(t.Context(), strings.NewReader("1\nx\n2\n"), &screen, &screen, []string{"parse", "--json"}...)
	lines := strings.Split(screen.String(), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], `"1"`) || !strings.Contains(lines[1], `"x"`) || !strings.Contains(lines[2], `"2"`) {
		t.Errorf("%q", lines)
	}
}

func TestParseReadFails(t *testing.T) {
	for _, before := range []string{"1\n", strings.Repeat("7", 100_000)} {
		var stdout, stderr bytes.Buffer
		stdin := io.MultiReader(strings.NewReader(before), iotest.ErrReader(errors.New("cable is out")))
		code := uidring.Run(t.Context(), stdin, &stdout, &stderr, []string{"parse", "--json"}...)
		if code != 1 || !strings.Contains(stderr.String(), "uidring: read standard input: cable is out\n") {
			t.Errorf("exit code %d, %q", code, stderr.String())
		}
		if before == "1\n" && !strings.HasPrefix(stdout.String(), `{"id":"1"`) {
			t.Errorf("%q, want the id that was read", stdout.String())
		}
	}
}

// Between two programs that talk, parse answers every complete line before it
// waits for more input.
func TestParseDialogue(t *testing.T) {
	stdin, ask := io.Pipe()
	answers, stdout := io.Pipe()
	code := make(chan int)
	go func() {
		code <- uidring.Run(t.Context(), stdin, stdout, io.Discard, []string{"parse", "--uid-generator"}...)
	}()
	for _, text := range []string{"1\n2", "3\n4"} {
		fmt.Fprint(ask, text)
		buf := make([]byte, 1024)
		if n, err := answers.Read(buf); err != nil || bytes.Count(buf[:n], []byte("\n")) != 1 {
			t.Errorf("%q, %v; want one line", buf[:n], err)
		}
	}
	go io.Copy(io.Discard, answers)
	ask.Close()
	if got := <-code; got != 3 {
		t.Errorf("exit code %d", got)
	}
	stdout.Close()
}
