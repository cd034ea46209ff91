package uid_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// fakeLeaser grants what the test says.
type fakeLeaser struct {
	number      int64
	from, until time.Time // of the first grant
	fresh       bool      // what it grants
	err         error     // of Lease
	releaseErr  error

	limit int64
	grant func(lease.Grant)

	wanted func(until time.Time) // if set, told what is used

	mu       sync.Mutex
	used     time.Time
	most     time.Time
	released []time.Time
}

func (f *fakeLeaser) Lease(_ context.Context, r lease.Request) (lease.Lease, error) {
	f.limit, f.grant = r.Limit, r.Granted
	if f.err != nil {
		return nil, f.err
	}
	f.granted(f.number, f.from, f.until, nil)
	return f, nil
}

// granted grants a number, or none if it is -1.
func (f *fakeLeaser) granted(number int64, from, until time.Time, err error) {
	f.grant(lease.Grant{Held: number != -1, Number: number, From: from, Until: until, Fresh: f.fresh, Err: err})
}

func (f *fakeLeaser) Use(used, most time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if used.After(f.used) {
		f.used = used
	}
	f.most = most
	if f.wanted != nil {
		f.wanted(used)
	}
}

// told returns the arguments of the last Use.
func (f *fakeLeaser) told() (used, most time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used, f.most
}

func (f *fakeLeaser) Release(_ context.Context, next time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = append(f.released, next)
	return f.releaseErr
}

// at is the start of a tick of the layout small.
func at(tick int64) time.Time { return small.Epoch.Add(time.Duration(tick) * time.Second) }

// leased is a config for the layout small, whose clock shows tick 5.
func leased() (uid.CachedConfig, *clock) {
	c := clockAt(start)
	return uid.CachedConfig{Layout: small, Now: c.now}, c
}

// losing loses the number, and then grants another.
func (f *fakeLeaser) losing(number int64, until time.Time) {
	f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
	f.granted(number, time.Time{}, until, nil)
}
