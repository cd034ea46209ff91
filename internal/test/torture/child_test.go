//go:build linux

package torture

import (
	"bufio"
	"context"
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
)

// drawers is how many goroutines draw ids from a generator.
const drawers = 2

// child is a process with one generator.
type child struct {
	order
	out    *recorder
	shift  atomic.Int64 // of its clock, in nanoseconds; written by listen, read by now
	access *access      // nil until the backend has been reached
	lease  *witness     // the generator's lease; nil for a counter

	drawn    atomic.Int64 // ids
	greatest atomic.Int64 // of the ids that were drawn
}

// childMain is the main function of a child. It ends at SIGTERM, or when standard input
// ends because the parent has died.
func childMain(text string) int {
	c := &child{out: newRecorder(os.Stdout)}
	if err := json.Unmarshal([]byte(text), &c.order); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go c.listen(os.Stdin)
	if err := c.live(ctx); err != nil {
		c.out.say(recordFatal, err.Error())
		return 1
	}
	return 0
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
		c.out.say(recordClosed, "no generator was open")
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
	c.out.say(recordClosed, errText(closed))
	return c.settled(g)
}

// settled compares a closed generator's Stats with what the child has drawn.
func (c *child) settled(g generator) error {
	if _, err := g.Next(); !errors.Is(err, uid.ErrClosed) {
		return fmt.Errorf("after Close, Next returned %v", err)
	}
	stats := g.Stats()
	if drawn := c.drawn.Load(); stats.Issued != drawn {
		return fmt.Errorf("Stats tells of %d ids issued, and %d were drawn", stats.Issued, drawn)
	}
	if c.lease == nil {
		return nil
	}
	if changes := c.lease.changes.Load(); stats.Clock.WorkerChanges != changes {
		return fmt.Errorf("Stats tells of %d changes of the number, and %d were granted", stats.Clock.WorkerChanges, changes)
	}
	return nil
}
