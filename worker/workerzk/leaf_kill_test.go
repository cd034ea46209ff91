//go:build linux

package workerzk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerzk"
)

// burstEnv has the server and the name of a process that draws ids until it is killed.
const burstEnv = "UIDRING_LEAF_BURST"

// burst draws ids much faster than the layout's rate, and prints the first and the last of
// each thousand. It waits until the session of the process before has ended.
func burst(order string) error {
	server, name, _ := strings.Cut(order, " ")
	conn, _, err := zk.Connect([]string{server}, 2*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		return err
	}
	leaser := workerzk.Leaf(conn, name, 8080, workerzk.LeafConfig{Address: "10.0.0.1"})
	gen, err := uid.NewCached(context.Background(), leaser, uid.Config{Layout: bits.Snowflake()})
	for errors.Is(err, lease.ErrHeld) {
		gen, err = uid.NewCached(context.Background(), leaser, uid.Config{Layout: bits.Snowflake()})
	}
	for ids := make([]uid.ID, 1000); err == nil; {
		if _, err = gen.WaitN(context.Background(), ids); err == nil {
			fmt.Println(ids[0], ids[len(ids)-1])
		}
	}
	return err
}

// TestLeafKilled: a process that drew ids in a burst is killed. The next one, with the same
// number and a right clock, repeats none.
func TestLeafKilled(t *testing.T) {
	l := newLeaf(t)
	var greatest uid.ID
	for range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), burstEnv+"="+shared(t)[0]+" "+l.name), os.Stderr
		out, err := cmd.StdoutPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		var first, last uid.ID
		n := 0
		for lines := bufio.NewScanner(out); lines.Scan(); n++ {
			if _, err := fmt.Sscan(lines.Text(), &first, &last); err == nil && n == 0 && first <= greatest {
				t.Errorf("id %d was made after ids up to %d", first, greatest)
			}
			if greatest = max(greatest, first, last); n == 10_000 {
				_ = cmd.Process.Kill()
			}
		}
		if _ = cmd.Wait(); n < 10_000 {
			t.Fatalf("the process has ended after %d lines", n)
		}
	}
}
