//go:build linux

package workerzk_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
)

// TestFirstHangs: an insert that stops waiting leaves nothing in the queue. Another goes on
// although the first in the queue hangs.
func TestFirstHangs(t *testing.T) {
	s, other, conn, w, path := raced(t)
	holdertest.Inserts(t, s, holdertest.Fresh("first"), 0)
	folder := path + "/waiting/0000000000000000000-0000000000000001023"
	waiting := func() int {
		names, _, err := conn.Children(folder)
		if err != nil {
			t.Error(err)
		}
		return len(names)
	}
	makes(t, conn, folder+"/0", "")
	ctx, cancel := context.WithCancel(t.Context())
	w.between.Store(&between{folder + "/0", cancel}) // when its own node waits, and it asks for the first
	_, done, err := s.Insert(ctx, holdertest.Fresh("in vain"))
	if need.Error(t, err, context.Canceled); done {
		t.Error("the insert is done before its turn")
	}
	servertest.Eventually(t, "the first alone waits", func() bool { return waiting() == 1 })
	holdertest.Inserts(t, other, holdertest.Fresh("second"), 1)
	w.between.Store(&between{`"token":"third"`, func() { // others took it for one that hangs
		names, _, err := conn.Children(folder)
		if len(names) != 1 || err != nil {
			t.Fatalf("%q, %v; want the third alone", names, err)
		}
		deletes(t, conn, folder+"/"+names[0])
	}})
	if holdertest.Inserts(t, s, holdertest.Fresh("third"), 2); waiting() != 0 {
		t.Error("the queue is not empty")
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
	_, done, err = s.Insert(background(t), holdertest.Fresh("refused"))
	if need.Error(t, err, zk.ErrNoAuth); done || waiting() != 0 || w.between.Load() != nil {
		t.Errorf("%t, %d nodes wait; want the insert refused, and an empty queue after a fence", done, waiting())
	}
}
