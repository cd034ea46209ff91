// Package servicetest has a catalog of generators for tests of what serves ids.
package servicetest

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// Secret is in the text of [ErrDriver], as an address with a password is in a driver's.
const Secret = "hunter2"

// ErrDriver is an error of a database's driver.
var ErrDriver = errors.New("dial postgres://app:" + Secret + "@db: refused")

// Catalog has generators of one source, and names that fail.
type Catalog struct {
	Entries map[string]*service.Entry
	Errors  map[string]error // of Get; where it is uid.ErrNotReady, Open waits until ctx ends
	Gets    atomic.Int64     // calls of Get
}

// New returns a catalog of nothing.
func New() *Catalog {
	return &Catalog{Entries: map[string]*service.Entry{}, Errors: map[string]error{}}
}

// Add adds a generator, if there is no error, and closes it at the end of the test.
func (c *Catalog) Add(t testing.TB, name, kind string, layout *bits.Layout, gen uid.Generator, err error) *service.Entry {
	t.Helper()
	need.Must(t, err)
	t.Cleanup(func() { _ = gen.Close() })
	c.Entries[name] = &service.Entry{Name: name, Kind: kind, Claimer: gen, Layout: layout, Instance: name + "-1"}
	return c.Entries[name]
}

// Source implements service.Catalog.
func (*Catalog) Source(string) (i, n int) { return 0, 1 }

// Open implements service.Catalog.
func (c *Catalog) Open(ctx context.Context, name string) (*service.Entry, error) {
	entry, err := c.Get(name)
	if errors.Is(err, uid.ErrNotReady) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return entry, err
}

// Get implements service.Catalog.
func (c *Catalog) Get(name string) (*service.Entry, error) {
	c.Gets.Add(1)
	if entry := c.Entries[name]; entry != nil {
		return entry, nil
	}
	return nil, cmp.Or(c.Errors[name], service.ErrUnknown)
}

// Broken is a generator that fails. Without an error it waits until ctx ends.
type Broken struct{ Err error }

// Claim implements service.Claimer.
func (b Broken) Claim(ctx context.Context, _ int64) (uid.Run, error) {
	if b.Err == nil {
		<-ctx.Done()
	}
	return uid.Run{}, cmp.Or(b.Err, ctx.Err())
}

// TryClaim implements service.Claimer.
func (b Broken) TryClaim(int64) (uid.Run, error) { return uid.Run{}, cmp.Or(b.Err, uid.ErrNotReady) }
