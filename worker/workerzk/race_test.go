//go:build linux

package workerzk_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerzk"
)

// raced returns a store whose requests something comes between, and another store of the
// same nodes.
func raced(t *testing.T) (s, other leasestore.Preparer, conn *zk.Conn, w *wire, path string) {
	t.Parallel()
	path = newPath()
	conn = connect(t, shared(t), 20*time.Second, nil)
	wired, w := wired(t, shared(t), 20*time.Second)
	return prepared(t, wired, path), prepared(t, conn, path), conn, w, path
}

// TestGivenIsKept: a number that was given is not new again when its row is deleted, even
// if two rows are made at once, or a lower number after it.
func TestGivenIsKept(t *testing.T) {
	s, other, conn, w, path := raced(t)
	insert := func(s leasestore.Store, number int64) {
		holdertest.Inserts(t, s, holdertest.Write(number, fmt.Sprint("token ", number)), number)
	}
	insert(s, 2)
	w.between.Store(&between{`"token":"token 5"`, func() { insert(other, 7) }})
	insert(s, 5)
	for _, row := range []string{path + "/number/0000000000000000005", path + "/number/0000000000000000007"} {
		deletes(t, conn, row+"/alive", row)
	}
	if view, err := s.Look(background(t), leasestore.Range{To: 99}, true, time.Minute); err != nil || view.Next != 8 {
		t.Errorf("look: %+v, %v; want 8 to be the next number", view, err)
	}
}

// TestGivenBetweenReads: a number is not new if another process is given it, and its row is
// deleted, between the two reads of the count.
func TestGivenBetweenReads(t *testing.T) {
	s, other, conn, w, path := raced(t)
	fresh := func(s leasestore.Store, token string, want int64) {
		holdertest.Inserts(t, s, holdertest.Fresh(token), want)
	}
	fresh(s, "first", 0)
	const zero = "/0000000000000000000"
	w.between.Store(&between{path + "/given" + zero, func() {
		w.between.Store(&between{path + "/given" + zero, func() {
			fresh(other, "second", 1)
			row := path + "/number/0000000000000000001"
			deletes(t, conn, row+"/alive", row)
		}})
	}})
	fresh(s, "third", 2)
	deletes(t, conn, path+"/given"+zero) // the count is lost: a number without a row is taken for new
	fresh(s, "fourth", 1)
}

// TestRowIsDeleted: a row that is deleted during a Swap was not written.
func TestRowIsDeleted(t *testing.T) {
	s, other, conn, w, path := raced(t)
	holdertest.Inserts(t, other, holdertest.Fresh("first"), 0)
	row := path + "/number/0000000000000000000"
	w.between.Store(&between{`"token":"second"`, func() { deletes(t, conn, row+"/alive", row) }})
	holdertest.Swaps(t, s, "first", extend("second"), false)
}

// TestLayoutsAtOnce: of two that replace a layout at once, the second learns of the first.
func TestLayoutsAtOnce(t *testing.T) {
	s, other, _, w, _ := raced(t)
	swap := func(s leasestore.Store, old, layout, want string) {
		if remembered, err := s.SwapLayout(background(t), old, leasestore.Terms{Layout: layout}); remembered != want || err != nil {
			t.Errorf("%q, %v; want %q", remembered, err, want)
		}
	}
	swap(s, "", "first", "first")
	w.between.Store(&between{"second", func() { swap(other, "first", "third", "third") }})
	swap(s, "first", "second", "third")
}

// TestListIsCut: a list without all of its rows is an error. A start makes it again.
func TestListIsCut(t *testing.T) {
	s, other, _, w, path := raced(t)
	for number, token := range []string{"a", "b", "c"} {
		holdertest.Inserts(t, other, holdertest.Fresh(token), int64(number))
	}
	cut := &between{path + "/number/0000000000000000001", func() { w.cut(false) }}
	w.between.Store(cut)
	if rows, err := s.List(background(t), 0, time.Minute); err == nil {
		t.Errorf("list: %+v; want an error", rows)
	}
	w.between.Store(cut)
	if g := hold(t, s).Last(); g.Number < 3 || w.between.Load() != nil { // a request without an answer in time leaves a gap
		t.Errorf("granted %+v; want number 3 or more after a list that was cut", g)
	}
}

// TestGoneWhileListed: a row that is deleted after its name was listed is left out. What a
// row says of its first write stays.
func TestGoneWhileListed(t *testing.T) {
	s, other, conn, w, path := raced(t)
	for number, token := range []string{"a", "b"} {
		holdertest.Inserts(t, other, holdertest.Fresh(token), int64(number))
	}
	row := path + "/number/0000000000000000001"
	w.between.Store(&between{row, func() { deletes(t, conn, row+"/alive", row) }})
	rows, err := s.List(background(t), 0, time.Minute)
	if err != nil || len(rows) != 1 || rows[0].Number != 0 || w.between.Load() != nil {
		t.Fatalf("list: %+v, %v; want number 0 alone", rows, err)
	}
	time.Sleep(2 * time.Millisecond) // the unit of ZooKeeper's times
	holdertest.Swaps(t, other, "a", extend("c"), true)
	if again, _, err := s.Read(background(t), 0, time.Minute); err != nil || again == nil || again.Token != "c" || again.Created != rows[0].Created {
		t.Errorf("%+v, %v; want it created at %d", again, err, rows[0].Created)
	}
}

// TestNoParent: writes of rows fail where the parent nodes are gone.
func TestNoParent(t *testing.T) {
	t.Parallel()
	s := workerzk.NewStore(connect(t, shared(t), 20*time.Second, nil), workerzk.Config{Path: newPath()})
	_, _, exact := s.Insert(background(t), holdertest.Write(0, "a"))
	_, _, fresh := s.Insert(background(t), holdertest.Fresh("a"))
	for _, err := range []error{exact, fresh} {
		need.Error(t, err, zk.ErrNoNode)
	}
}

// TestAliveIsOwn: a holder is alive as long as its last session, not the one before.
func TestAliveIsOwn(t *testing.T) {
	s, other, conn, _, _ := raced(t)
	holdertest.Inserts(t, other, holdertest.Fresh("first"), 0)
	holdertest.Swaps(t, s, "first", extend("second"), true)
	conn.Close()
	read(t, s, leasestore.StateHeld)
}

// TestEachRequestIsRefused: whichever request of a method is refused, the method fails.
func TestEachRequestIsRefused(t *testing.T) {
	t.Parallel()
	conn, w := wired(t, shared(t), 20*time.Second)
	hides(t, ready(t, conn))
	s := workerzk.NewStore(conn, workerzk.Config{Path: newPath()})
	done := func(done bool, err error) error {
		if err == nil && !done {
			return errors.New("it was not done")
		}
		return err
	}
	for round := range 2 { // the second finds what the first made
		number := int64(round)
		w.refuse(t, "Prepare", func() error { return s.Prepare(background(t), slog.Default()) })
		w.refuse(t, "Insert", func() error { _, ok, err := s.Insert(background(t), holdertest.Fresh("a")); return done(ok, err) })
		w.refuse(t, "Swap", func() error { return done(s.Swap(background(t), "a", holdertest.Write(number, "b"))) })
		w.refuse(t, "Read", func() error { _, _, err := s.Read(background(t), number, time.Minute); return err })
		w.refuse(t, "Look", func() error { _, err := s.Look(background(t), leasestore.Range{To: 9}, true, time.Minute); return err })
		w.refuse(t, "List", func() error { _, err := s.List(background(t), 0, time.Minute); return err })
		w.refuse(t, "SwapLayout", func() error {
			_, err := s.SwapLayout(background(t), "", leasestore.Terms{Layout: fmt.Sprint("layout ", round)})
			return err
		})
	}
}
