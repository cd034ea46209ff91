package uid_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/uidring/uidring/uid"
)

// Counter is a generator of one's own. It has what Claims lacks of a Generator: Next,
// Close and Shutdown.
type Counter struct {
	uid.Claims
	last   atomic.Int64
	closed atomic.Bool
}

var _ uid.Generator = (*Counter)(nil)

// NewCounter returns a generator of 1, 2, 3 and so on.
func NewCounter() *Counter {
	c := new(Counter)
	c.Claims = uid.NewClaims(c.claim)
	return c
}

// claim always has ids, so it need not wait.
func (c *Counter) claim(_ context.Context, limit int64, _ bool) (uid.Run, error) {
	if c.closed.Load() {
		return uid.Run{}, uid.ErrClosed
	}
	return uid.Run{First: uid.ID(c.last.Add(limit) - limit + 1), N: limit}, nil
}

func (c *Counter) Next() (uid.ID, error) {
	run, err := c.claim(context.Background(), 1, false)
	return run.First, err
}

func (c *Counter) Close() error {
	c.closed.Store(true)
	return nil
}

func (c *Counter) Shutdown(context.Context) error { return c.Close() }

// A generator of one's own has one method that makes ids. Claims derives the others.
func ExampleNewClaims() {
	gen := NewCounter()
	fmt.Println(gen.Next())
	ids := make([]uid.ID, 3)
	n, err := gen.NextN(ids)
	fmt.Println(n, err, ids)
	fmt.Println(gen.Claim(context.Background(), 100))
	gen.Close()
	fmt.Println(gen.Wait(context.Background()))
	// Output:
	// 1 <nil>
	// 3 <nil> [2 3 4]
	// {5 100} <nil>
	// 0 uid: generator is closed
}
