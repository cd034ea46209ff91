package leasetest

// Faulty stores are in an internal test, for it needs record.

import (
	"context"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// faulty is a store with some of its methods replaced.
type faulty struct {
	leasestore.Store
	read   func(number int64) (*leasestore.Row, int64, error)
	insert func(w leasestore.Write) (int64, bool, error)
	swap   func(old string, w leasestore.Write) (bool, error)
}

func (f *faulty) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	if f.read != nil {
		return f.read(number)
	}
	return f.Store.Read(ctx, number, expiry)
}

func (f *faulty) Insert(ctx context.Context, w leasestore.Write) (int64, bool, error) {
	if f.insert != nil {
		return f.insert(w)
	}
	return f.Store.Insert(ctx, w)
}

func (f *faulty) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	if f.swap != nil {
		return f.swap(old, w)
	}
	return f.Store.Swap(ctx, old, w)
}

// attempts is how often chance may miss a fault.
const attempts = 20

// A store that is not linearizable is found out.
func TestFaultyStoresAreNotLinearizable(t *testing.T) {
	ctx := context.Background()
	for name, fault := range map[string]func(s leasestore.Store) leasestore.Store{
		"swaps whatever the token": func(s leasestore.Store) leasestore.Store {
			return &faulty{Store: s, swap: func(old string, w leasestore.Write) (bool, error) {
				if row, _, err := s.Read(ctx, w.Number, time.Hour); err == nil && row != nil {
					old = row.Token
				}
				return s.Swap(ctx, old, w)
			}}
		},
		"reads a stale row": func(s leasestore.Store) leasestore.Store {
			stale := map[int64]*leasestore.Row{}
			return &faulty{Store: s, read: func(number int64) (*leasestore.Row, int64, error) {
				row, now, err := s.Read(ctx, number, time.Hour)
				before, ok := stale[number]
				stale[number] = row
				if ok {
					row = before
				}
				return row, now, err
			}}
		},
		"reports a write as done that it loses": func(s leasestore.Store) leasestore.Store {
			return &faulty{Store: s, swap: func(old string, w leasestore.Write) (bool, error) {
				if mathrand.IntN(4) == 0 {
					return true, nil
				}
				return s.Swap(ctx, old, w)
			}}
		},
		"reports a row as made that existed": func(s leasestore.Store) leasestore.Store {
			return &faulty{Store: s, insert: func(w leasestore.Write) (int64, bool, error) {
				number, _, err := s.Insert(ctx, w)
				return number, err == nil, err
			}}
		},
		"reports a write as not done that it did": func(s leasestore.Store) leasestore.Store {
			return &faulty{Store: s, swap: func(old string, w leasestore.Write) (bool, error) {
				done, err := s.Swap(ctx, old, w)
				return done && mathrand.IntN(4) > 0, err
			}}
		},
		"does not reserve": func(s leasestore.Store) leasestore.Store {
			return &faulty{Store: s, swap: func(old string, w leasestore.Write) (bool, error) {
				w.Until--
				return s.Swap(ctx, old, w)
			}}
		},
		"does not release": func(s leasestore.Store) leasestore.Store {
			return &faulty{Store: s, swap: func(old string, w leasestore.Write) (bool, error) {
				if w.Change == leasestore.Release {
					w.Change = leasestore.Extend
				}
				return s.Swap(ctx, old, w)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range attempts {
				s := new(Memory)
				if !linearizable(t, record(t, func(*testing.T) leasestore.Store { return fault(s) })) {
					return
				}
			}
			t.Error("the fault was not found")
		})
	}
}

func TestMemory(t *testing.T) {
	need.Time(t)
	Suite{Open: func(t *testing.T) Opener {
		s := new(Memory)
		return func(*testing.T) leasestore.Store { return s }
	}, Delete: func(_ *testing.T, s leasestore.Store, number int64) { s.(*Memory).Delete(number) }}.Run(t)
}

func BenchmarkMemory(b *testing.B) {
	x := Benchmark{Open: func(*testing.B) leasestore.Store { return new(Memory) }}
	b.Run("Start", x.Start)
	b.Run("Herd", x.Herd)
}

// The adversary finds a store that lets two holders stamp the same instant.
func TestAdversaryFindsFaults(t *testing.T) {
	need.Time(t)
	for name, fault := range map[string]func(s leasestore.Store) leasestore.Store{
		"shows less than is reserved, and that all is free": func(s leasestore.Store) leasestore.Store { return forgetful{liar{s}} },
		"shows less than is reserved":                       func(s leasestore.Store) leasestore.Store { return forgetful{s} },
		"swaps whatever the token": func(s leasestore.Store) leasestore.Store {
			return &faulty{Store: s, swap: func(old string, w leasestore.Write) (bool, error) {
				time.Sleep(20 * time.Millisecond) // so that others have swapped meanwhile
				if row, _, err := s.Read(context.Background(), w.Number, time.Hour); err == nil && row != nil {
					old = row.Token
				}
				return s.Swap(context.Background(), old, w)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range attempts {
				s := fault(new(Memory))
				if (bench{t, s, Suite{Expiry: 100 * time.Millisecond}, func(*testing.T) leasestore.Store { return s }}).contend() != nil {
					return
				}
			}
			t.Error("the fault was not found")
		})
	}
}

// forgetful is a store that leaves the last half second of each reservation out of views.
type forgetful struct{ leasestore.Store }

func (f forgetful) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (leasestore.View, error) {
	view, err := f.Store.Look(ctx, within, full, expiry)
	for i := range view.Free {
		view.Free[i].Until -= 500
	}
	return view, err
}

// Holders that restart again and again, one after the other or all at the same time, use at most
// 1.1 times the numbers that are held at once. With two samples a look, 1.06 is the mean of the
// worst order, and with one 1.1.
func TestRestarts(t *testing.T) {
	need.Time(t)
	const held, restarts = 500, 10
	for name, batch := range map[string]int{"one after the other": 1, "a tenth": held / 10, "all": held} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := new(Memory), &holdertest.Fleet{TB: t}
			leaser := func(int) *lease.Leaser { return lease.New(s, benchConfig) }
			f.Start(t.Context(), held, leaser)
			for range restarts * held / batch {
				f.Stop(batch)
				f.Start(t.Context(), batch, leaser)
			}
			if used := float64(f.Most+1) / held; used > 1.08 {
				t.Errorf("%.3f numbers are used for each held; want 1.08 at most", used)
			} else {
				t.Logf("%.3f numbers are used for each held", used)
			}
		})
	}
}
