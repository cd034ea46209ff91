package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// told is a store whose answers a test gives.
type told struct {
	leasetest.Memory
	rows          []leasestore.Row // of List; of Read one after the other, without a token for none
	swaps         []bool           // done
	reads, writes error

	given   []context.Context
	limit   int // of List
	expiry  time.Duration
	written []leasestore.Write
	old     []string
}

func (s *told) List(ctx context.Context, limit int, expiry time.Duration) ([]leasestore.Row, error) {
	s.given, s.limit, s.expiry = append(s.given, ctx), limit, expiry
	return s.rows, s.reads
}

func (s *told) Read(ctx context.Context, _ int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	s.given, s.expiry = append(s.given, ctx), expiry
	row := s.rows[0]
	if s.rows = s.rows[1:]; row.Token == "" || s.reads != nil {
		return nil, 21_000, s.reads
	}
	return &row, 21_000, nil
}

func (s *told) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	s.given = append(s.given, ctx)
	s.written, s.old = append(s.written, w), append(s.old, old)
	if s.writes != nil {
		return false, s.writes
	}
	done := s.swaps[0]
	s.swaps = s.swaps[1:]
	return done, nil
}

// living returns how many of the contexts that the store was given have not ended.
func (s *told) living() int {
	return len(slices.DeleteFunc(s.given, func(ctx context.Context) bool { return ctx.Err() != nil }))
}

var listing = lease.Config{Window: time.Hour, Expiry: 5 * time.Minute}

func TestLeases(t *testing.T) {
	s := &told{rows: []leasestore.Row{
		{Number: 7, State: leasestore.StateHeld, Node: leasestore.Node{Host: "h", Port: "6@80", Type: 2}, Heartbeat: 1000, Until: 2000, Created: 500},
		{Number: 3, State: leasestore.StateFree, Until: 5},
	}}
	want := []lease.Info{
		{7, lease.StateHeld, "h", "6@80", 6, lease.NodeActual, time.UnixMilli(1000).UTC(), time.UnixMilli(2000).UTC(), time.UnixMilli(500).UTC()},
		{Number: 3, State: lease.StateFree, ReservedUntil: time.UnixMilli(5).UTC()},
	}
	ctx, cancel := context.WithCancel(t.Context())
	if got, err := lease.New(s, listing).Leases(ctx, 9); err != nil || !slices.Equal(got, want) || s.limit != 9 || s.expiry != 5*time.Minute {
		t.Errorf("%+v, %v of a list of %d with the expiry %v; want %+v", got, err, s.limit, s.expiry, want)
	}
	if cancel(); s.living() > 0 {
		t.Error("the store is given another context")
	}
	s.reads = errUnavailable
	if got, err := lease.New(s, listing).Leases(t.Context(), 0); got != nil || !errors.Is(err, errUnavailable) || err.Error() != "lease: list memory: connection refused" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFree(t *testing.T) {
	row := func(token string, state leasestore.State, heartbeat int64) leasestore.Row {
		return leasestore.Row{Number: 5, Token: token, Until: 77, State: state, Heartbeat: heartbeat, Node: leasestore.Node{Host: "h", Port: "80"}}
	}
	for name, tt := range map[string]struct {
		store  *told
		number int64
		force  bool
		old    []string // tokens that were to be replaced
		is     error
		want   string // the end of the error; empty is none
	}{
		"dead":          {&told{rows: []leasestore.Row{row("a", leasestore.StateExpired, 9)}, swaps: []bool{true}}, 5, false, []string{"a"}, nil, ""},
		"free":          {&told{rows: []leasestore.Row{row("a", leasestore.StateFree, 0)}, swaps: []bool{true}}, 5, false, []string{"a"}, nil, ""},
		"alive, forced": {&told{rows: []leasestore.Row{row("a", leasestore.StateHeld, 9)}, swaps: []bool{true}}, 5, true, []string{"a"}, nil, ""},
		"alive": {&told{rows: []leasestore.Row{row("a", leasestore.StateHeld, 1000)}}, 5, false, nil, lease.ErrHeld,
			`lease: the number is held: by host "h", port "80", last heartbeat 20s ago; it becomes free after 5m0s without a heartbeat`},
		"alive, without a heartbeat": {&told{rows: []leasestore.Row{row("a", leasestore.StateHeld, 0)}}, 5, false, nil, lease.ErrHeld, `port "80"; it becomes free after 5m0s without a heartbeat`},
		"alive, with a process": {&told{rows: []leasestore.Row{{Number: 5, Token: "a", State: leasestore.StateHeld, Node: leasestore.Node{Host: "h", Port: "12@80"}}}}, 5, false, nil, lease.ErrHeld,
			`by host "h", process 12; it becomes free after 5m0s without a heartbeat`},
		"no row":    {&told{rows: make([]leasestore.Row, 1)}, 5, true, nil, lease.ErrNoLease, "the number has no row"},
		"no number": {&told{rows: []leasestore.Row{row("a", leasestore.StateFree, 0)}}, -1, true, nil, lease.ErrNoLease, "the number has no row"},
		"no read":   {&told{rows: make([]leasestore.Row, 1), reads: errUnavailable}, 5, true, nil, errUnavailable, "connection refused"},
		"no write":  {&told{rows: []leasestore.Row{row("a", leasestore.StateFree, 0)}, writes: errUnavailable}, 5, true, []string{"a"}, errUnavailable, "connection refused"},
		"changed": {&told{rows: []leasestore.Row{row("a", leasestore.StateExpired, 9), row("b", leasestore.StateExpired, 9)}, swaps: []bool{false, true}}, 5, false,
			[]string{"a", "b"}, nil, ""},
		"alive again": {&told{rows: []leasestore.Row{row("a", leasestore.StateExpired, 9), row("b", leasestore.StateHeld, 9)}, swaps: []bool{false}}, 5, false,
			[]string{"a"}, lease.ErrHeld, "free after 5m0s without a heartbeat"},
		"not changed": {&told{rows: []leasestore.Row{row("a", leasestore.StateExpired, 9), row("a", leasestore.StateExpired, 9)}, swaps: []bool{false}}, 5, false,
			[]string{"a"}, nil, "the store did not change the row"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		free := lease.New(tt.store, listing).Free
		if tt.force {
			free = lease.New(tt.store, listing).Revoke
		}
		err := free(ctx, tt.number)
		if cancel(); tt.store.living() > 0 {
			t.Errorf("%s: the store is given another context", name)
		}
		if doing := fmt.Sprintf("lease: free number %d in memory: ", tt.number); tt.want == "" && err != nil ||
			tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), doing) || !strings.HasSuffix(err.Error(), strings.TrimPrefix(tt.want, "lease: "))) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v; want %s%s", name, err, doing, tt.want)
		}
		if s := tt.store; !slices.Equal(s.old, tt.old) || s.expiry != 5*time.Minute || len(s.rows) > 0 {
			t.Errorf("%s: replaced %q, read with the expiry %v, and %d rows are left; want %q", name, s.old, s.expiry, len(s.rows), tt.old)
		}
		for i, w := range tt.store.written {
			if w.Number != 5 || w.Until != 77 || w.Change != leasestore.Release || len(w.Token) < 20 || i > 0 && w.Token == tt.store.written[0].Token {
				t.Errorf("%s: wrote %+v; want the number free with the same reserved time and a token of its own", name, w)
			}
		}
	}
}
