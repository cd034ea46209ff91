//go:build linux

package torture

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// drawers is how many goroutines draw ids from a generator.
const drawers = 2

// child is a process with one generator.
type child struct {
	order
	out    *gob.Encoder
	shift  atomic.Int64 // of its clock, in nanoseconds; written by listen, read by now
	access *access      // nil until the backend has been reached
	lease  *witness     // the generator's lease; nil for a counter

	greatest atomic.Int64 // of the ids that were drawn
}

// childMain is the main function of a child. It ends at SIGTERM, or when standard input
// ends because the parent has died.
func childMain(text string) int {
	c := &child{out: gob.NewEncoder(os.Stdout)}
	if err := json.Unmarshal([]byte(text), &c.order); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go c.listen(os.Stdin)
	if err := c.live(ctx); err != nil {
		c.say(recordFatal, err.Error())
		return 1
	}
	return 0
}

// tell writes records, so that a kill loses little.
func (c *child) tell(records ...record) {
	_ = c.out.Encode(records) // an error means that the parent has died, and then standard input ends
}

func (c *child) say(kind recordKind, text string, numbers ...int64) {
	rec := record{Kind: kind, Text: text}
	copy(rec.Numbers[:], numbers)
	c.tell(rec)
}

// now returns the time by the child's clock.
func (c *child) now() time.Time { return time.Now().Add(time.Duration(c.shift.Load())) }

// listen sets the clock's error, which the parent writes in nanoseconds, one a line.
func (c *child) listen(in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if shift, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
			c.shift.Store(shift)
		}
	}
	os.Exit(3)
}

// live opens a generator and draws ids from it until ctx ends. It returns faults.
func (c *child) live(ctx context.Context) error {
	g, err := c.open(ctx)
	if err != nil {
		return err
	}
	if g == nil {
		c.say(recordClosed, "no generator was open")
		return nil
	}
	drawing, ctx := errgroup.WithContext(ctx)
	for i := range drawers {
		drawing.Go(func() error { return c.draw(g, i) })
	}
	<-ctx.Done() // or a goroutine has failed
	closed := g.Close()
	if err := drawing.Wait(); err != nil {
		return err
	}
	said := ""
	if closed != nil {
		said = closed.Error()
	}
	c.say(recordClosed, said)
	return nil
}

// hopeless are the errors with which no start may fail, in any state of the backend: all
// of them mean a wrong setting, or clocks that differ, and the test has one clock.
var hopeless = []error{
	uid.ErrConfig, uid.ErrTimeExhausted, uid.ErrClosed,
	lease.ErrSkew, worker.ErrDB, worker.ErrDialect, worker.ErrNoTable, worker.ErrKey, lease.ErrRewound,
	segment.ErrUnknownTag, segment.ErrUsedUp, uid.ErrRewound,
}

// open tries to open a generator until that succeeds: others may hold all numbers, and the
// backend may be unavailable. open returns nil when ctx ends.
func (c *child) open(ctx context.Context) (uid.Generator, error) {
	for attempt := int64(1); ; attempt++ {
		g, err := c.try(ctx, attempt)
		if err == nil {
			c.say(recordOpen, "", attempt)
			return g, nil
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		for _, fault := range hopeless {
			if errors.Is(err, fault) {
				return nil, fmt.Errorf("attempt %d to open a generator: %w", attempt, err)
			}
		}
		c.say(recordEvent, "starts refused", 1)
		_ = sleep(ctx, 50*time.Millisecond)
	}
}

// openFor bounds one attempt.
const openFor = 5 * time.Second

// try opens a generator.
func (c *child) try(ctx context.Context, attempt int64) (_ uid.Generator, err error) {
	if c.access == nil {
		if c.access, err = open(c.URL); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, openFor)
	defer cancel()
	if c.Kind != kindCounter {
		return c.stamping(ctx, attempt)
	}
	return segment.New(ctx, &reserver{c.access.counters, c}, tag, segment.Config{
		Step: firstStep, MaxStep: mostStep, Ahead: ahead, LoadTimeout: time.Second, Logger: silent,
	})
}

// stamping opens a generator with its own lease. The history names the lease by the process and the
// attempt.
func (c *child) stamping(ctx context.Context, attempt int64) (uid.Generator, error) {
	leaser := c.leaser(attempt)
	switch c.Kind {
	case kindDefault:
		return uid.NewDefault(ctx, leaser, uid.DefaultConfig{Layout: c.Layout, Now: c.now, Logger: silent})
	case kindSlots:
		return uid.NewSlots(ctx, leaser, uid.SlotsConfig{Layout: c.Layout, Slots: c.slots(), Now: c.now, Logger: silent})
	}
	return uid.NewCached(ctx, leaser, uid.CachedConfig{Layout: c.Layout, Now: c.now, Logger: silent, BoostPower: c.Boost})
}
