package uidclient

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// answered is an answer with runs, each of a first id and a count.
func answered(instance string, number int64, runs ...int64) *answer {
	a := &answer{Instance: instance, Number: number, sent: time.Now()}
	for ; len(runs) > 0; runs = runs[2:] {
		a.runs = append(a.runs, ringbuffer.Run{First: runs[0], N: runs[1]})
		a.count += runs[1]
	}
	return a
}

func newJudge() *ledger { return &ledger{instances: map[string]standing{}} }

// An answer with an id that another instance has given is refused, wherever it lies, and so is
// one that does not lie above the last of its own instance.
func TestLedger(t *testing.T) {
	for _, c := range []struct {
		instance string
		runs     []int64
		want     string // how the error goes on; empty if the answer is right
	}{
		{"c", []int64{1, 9}, ""},
		{"c", []int64{1, 10}, "id 10, as another"},
		{"c", []int64{1, 1000}, "id 10, as another"},
		{"c", []int64{10, 1}, "id 10, as another"},
		{"c", []int64{12, 2}, "id 12, as another"},
		{"c", []int64{15, 5}, ""},
		{"c", []int64{14, 1}, "id 14, as another"},
		{"c", []int64{1, 2, 20, 1}, "id 20, as another"},
		{"c", []int64{21, 5, 28, 100}, "id 30, as another"},
		{"c", []int64{34, 100}, "id 34, as another"},
		{"c", []int64{35, math.MaxInt64 - 34}, ""},
		{"a", []int64{9, 1}, "id 9 after 20"},
		{"a", []int64{10, 1}, "id 10 after 20"},
		{"a", []int64{15, 1}, "id 15 after 20"},
		{"a", []int64{20, 1}, "id 20 after 20"},
	} {
		l, s := newJudge(), &server{url: "http://ids"}
		for _, a := range []*answer{answered("a", 1, 10, 2, 20, 1), answered("b", 1, 12, 3, 30, 5)} {
			need.Must(t, l.accept(s, a))
		}
		err := l.accept(s, answered(c.instance, 2, c.runs...))
		want := fmt.Sprintf(`instance %q at http://ids answered with %s`, c.instance, c.want)
		if (err != nil) != (c.want != "") || err != nil && (!errors.Is(err, uid.ErrRewound) || !strings.Contains(err.Error(), want)) {
			t.Errorf("accept(%v) = %v, want %q", c.runs, err, want)
		}
		if err != nil && l.accept(s, answered(c.instance, 3, 1_000_000, 1)) == nil {
			t.Errorf("accept(%v) and then an answer that is right: it is accepted", c.runs)
		}
	}
}

// A ledger remembers the last 1,000 instances and runs, and runs that adjoin are one.
func TestLedgerForgets(t *testing.T) {
	l, s := newJudge(), &server{}
	for i := range int64(3*maxKept + 1) {
		need.Must(t, l.accept(s, answered(fmt.Sprint(i), 5, 100+10*i, 5)))
	}
	need.Must(t, l.accept(s, answered(fmt.Sprint(3*maxKept), 6, 1<<40, 1))) // of an instance that is known
	if len(l.instances) != maxKept || len(l.runs) != maxKept || l.runs[0].First != 100+10*(2*maxKept+2) {
		t.Errorf("%d instances and %d runs from %d, want %d of the last", len(l.instances), len(l.runs), l.runs[0].First, maxKept)
	}
	for range 2 { // the others are all remembered
		for instance := range l.instances {
			need.Error(t, l.accept(s, answered(instance, 5, 1<<40, 1)), uid.ErrRewound)
		}
	}
	l = newJudge()
	for i := range int64(3 * maxKept) {
		need.Must(t, l.accept(s, answered("a", i+1, 1+10*i, 10)))
	}
	if len(l.runs) != 1 || l.runs[0].N != 30*maxKept {
		t.Errorf("adjoining runs are %v", l.runs)
	}
}

// Two servers that share no store give the same ids: the client issues each once.
func TestTwoStores(t *testing.T) {
	bubble(t, Config{MaxAge: uid.Unlimited}, 2, func(t *testing.T, c *Client, servers []*fake) {
		servers[0].down()
		servers[1].set(func(f *fake) { f.next = 1 })
		last, err := drain(t, c)
		if last != 128 || !errors.Is(err, uid.ErrRewound) || !errors.Is(err, uid.ErrUnavailable) || !strings.Contains(err.Error(), "refused; instance") {
			t.Fatalf("after %d ids: %v, want uid.ErrRewound after 128", last, err)
		}
		servers[0].up()
		if id, err := c.Wait(t.Context()); id != 129 || err != nil {
			t.Errorf("Wait() = %d, %v, want 129 of the first server", id, err)
		}
	})
}

// A newer server may say more, and may answer with fewer ids than the client asks for.
func TestOtherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		server.body = `{"new":{"a":1},"instance":"a","number":1,"runs":[{"first":"7","count":1,"worker":5}]}`
		c := open(t, Config{}, server)
		server.set(func(f *fake) { f.body, f.next, f.number, f.gives = "", 8, 1, 50 })
		take(t, c, 7, 1000)
		if s := c.Stats(); s.Loads.LastSize != 50 || s.LastError != nil {
			t.Errorf("Stats() = %+v, want answers of 50 ids", s)
		}
	})
}

// An instance that answers while Close runs leaves nothing behind.
func TestCloseDuringFailover(t *testing.T) {
	bubble(t, Config{}, 1, func(t *testing.T, c *Client, _ []*fake) {
		need.Must(t, c.Close())
		if err := c.sessions[0].end(t.Context(), answered("b", 1, 1000, 5)); !errors.Is(err, uid.ErrClosed) || len(c.sessions) != 1 {
			t.Errorf("end() = %v with %d sessions, want ErrClosed and the closed one", err, len(c.sessions))
		}
		c.sessions[0].next.Store(c.sessions[0]) // as if it had ended just before
		if c.leave(); len(c.sessions) != 1 {
			t.Errorf("%d sessions, want the closed one", len(c.sessions))
		}
		time.Sleep(time.Hour) // a source that still runs keeps the bubble from ending
	})
}
