package redisclients

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

const script = `
echo $1 $# >>started
while read -r command name n; do
	case $name in
	ready) echo "error it is away" ;;
	hangs) while :; do :; done ;;
	fails) echo "7 9 error it is away" ;;
	*) echo $((n + 4)) ;;
	esac
done
`

// A process is killed when it does not answer in time, and the next one answers the next
// command.
func TestDraw(t *testing.T) {
	need.Program(t, "sh")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Client{Name: "a script", command: []string{"sh", "script.sh"}, dir: dir}.Start(t, []string{"a", "b"}, "", time.Minute)
	for _, test := range []struct {
		command, generator string
		n                  int
		want               []uid.ID
		err                string
	}{
		{"incr", "orders", 1, []uid.ID{5}, ""},
		{"incrby", "orders", 3, []uid.ID{5, 6, 7}, ""},
		{"pipeline", "fails", 3, []uid.ID{7, 9}, "it is away"},
		{"get", "orders", 2, []uid.ID{6}, ""},
	} {
		ids, err := p.Draw(test.command, test.generator, test.n)
		if !slices.Equal(ids, test.want) || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%+v: %v, %v", test, ids, err)
		}
	}
	p.timeout, p.client.command[0] = time.Millisecond, "no-such-program"
	if ids, err := p.Draw("incr", "hangs", 1); len(ids) > 0 || !errors.Is(err, errTime) {
		t.Errorf("%v, %v, want %v", ids, err, errTime)
	}
	p.timeout = time.Minute
	if ids, err := p.Draw("incr", "orders", 1); len(ids) > 0 || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("without a process: %v, %v", ids, err)
	}
	p.client.command[0] = "sh"
	p.start()
	if ids, err := p.Draw("incr", "orders", 1); err != nil || !slices.Equal(ids, []uid.ID{5}) {
		t.Errorf("the next process answers %v, %v", ids, err)
	}
	if started, err := os.ReadFile(filepath.Join(dir, "started")); err != nil || string(started) != "30 4\n30 4\n" {
		t.Errorf("it was started with %q, %v, want a timeout of 30 and 4 arguments twice", started, err)
	}
}
