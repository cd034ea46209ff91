//go:build linux

package workerzk_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/servertest"
)

// TestFirstHangs: an insert that stops waiting leaves nothing in the queue. Another goes on
// although the first in the queue hangs.
func TestFirstHangs(t *testing.T) {
	s, other, conn, w, path := raced(t)
	inserts(t, s, 0, "first")
	folder := path + "/waiting/0000000000000000000-0000000000000000099"
	waiting := func() int {
		names, _, err := conn.Children(folder)
		if err != nil {
			t.Error(err)
		}
		return len(names)
	}
	makes(t, conn, folder+"/0", "")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, done, err := s.Insert(ctx, insert(0, "in vain"))
	if says(t, err, context.DeadlineExceeded, ""); done {
		t.Error("the insert is done before its turn")
	}
	servertest.Eventually(t, "the first alone waits", func() bool { return waiting() == 1 })
	soon, end := context.WithTimeout(t.Context(), 30*time.Second)
	defer end()
	if number, done, err := other.Insert(soon, insert(0, "second")); number != 1 || !done || err != nil {
		t.Errorf("insert: %d, %t, %v; want number 1", number, done, err)
	}
	w.between.Store(&between{`"token":"third"`, func() { // others took it for one that hangs
		names, _, err := conn.Children(folder)
		if len(names) != 1 || err != nil {
			t.Fatalf("%q, %v; want the third alone", names, err)
		}
		deletes(t, conn, folder+"/"+names[0])
	}})
	if number, done, err := s.Insert(soon, insert(0, "third")); number != 2 || !done || err != nil || waiting() != 0 {
		t.Errorf("insert: %d, %t, %v; want number 2, and an empty queue", number, done, err)
	}
	hides(t, conn)
	const multi = "\x00\x00\x00\x0e\x00\x00\x00\x0d" // that begins with a check
	w.left.Store(2)                                  // after the node that waits is made
	w.between.Store(&between{multi, func() {         // a server that lags shows a node only after a fence
		names, _, err := conn.Children(folder)
		if len(names) != 1 || err != nil {
			t.Fatalf("%q, %v; want the node of the insert", names, err)
		}
		makes(t, conn, folder+"/"+names[0]+"0", "")
	}})
	_, done, err = s.Insert(soon, insert(0, "refused"))
	if says(t, err, zk.ErrNoAuth, ""); done || waiting() != 0 || w.between.Load() != nil {
		t.Errorf("%t, %d nodes wait; want the insert refused, and an empty queue after a fence", done, waiting())
	}
}
