package resp

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

const routeINCR = "redis INCR"

// isINCR reports whether others like it may be answered together with a command.
func isINCR(args [][]byte) bool { return len(args) == 2 && bytes.EqualFold(args[0], []byte("INCR")) }

// increment answers the INCRs that were parsed, as many of them as the caller may send.
func (c *conn) increment() {
	if c.incr == 0 {
		return
	}
	c.work = true
	allowed, err := 0, c.refused
	for ; err == nil && allowed < c.incr; allowed++ {
		if err = c.admit(); err != nil {
			break
		}
	}
	if allowed > 0 {
		c.drawEach(c.generator(c.incrOf), allowed)
	}
	c.failEach(c.incr-allowed, err)
	c.incr = 0
}

// drawEach answers n INCRs. It draws their ids at once, if the limits of one request let it.
func (c *conn) drawEach(name string, n int) {
	before := c.written()
	drawn, err := c.ids.Draw(c.ctx, c.caller, name, n)
	if e := (*service.Error)(nil); n > 1 && errors.As(err, &e) && (e.Kind == service.BadRequest || e.Kind == service.TooManyRequests) {
		for range n {
			c.drawEach(name, 1)
		}
		return
	}
	if err != nil {
		c.failEach(n, err)
		return
	}
	for _, run := range drawn.Runs {
		for i := range run.N {
			c.int(int64(run.First) + i)
		}
	}
	drawn.Done()
	c.observe(routeINCR, n, before, nil)
}

// failEach answers n INCRs with an error.
func (c *conn) failEach(n int, err error) {
	if n == 0 {
		return
	}
	before := c.written()
	text, failed := explain(err)
	for range n {
		c.fail(text)
	}
	c.observe(routeINCR, n, before, failed)
}

// generator returns the name of a generator. Most connections use one again and again:
// its text is made once.
func (c *conn) generator(name []byte) string {
	if c.drawn != string(name) {
		c.drawn = string(name)
	}
	return c.drawn
}

// attempts is how often INCRBY looks for a run of consecutive ids. The first can meet the
// end of a range, and the second another draw.
const attempts = 3

// incrBy draws n consecutive ids. Ids of a draw without a run of n are a gap.
func (c *conn) incrBy(args [][]byte) error {
	name := c.generator(args[0])
	n, err := count(args[1])
	if err != nil {
		return err
	}
	longest := int64(0)
	for range attempts {
		drawn, err := c.ids.Draw(c.ctx, c.caller, name, n)
		if err != nil {
			return err
		}
		for _, run := range drawn.Runs {
			longest = max(longest, run.N)
		}
		last := drawn.Runs[0].First + uid.ID(n-1)
		layout := drawn.Entry.Layout
		drawn.Done()
		if longest == int64(n) {
			c.int(int64(last))
			return nil
		}
		if layout != nil && n > 1<<layout.SequenceBits {
			break // no tick has as many
		}
	}
	return service.Invalid("generator %q had no %d consecutive ids, but %d at most: want a smaller n, or UID.RUNS", name, n, longest)
}

func count(text []byte) (int, error) {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}

func (c *conn) get(args [][]byte) error {
	return c.drawText(c.ctx, c.generator(args[0]))
}

// drawText answers with an id as text.
func (c *conn) drawText(ctx context.Context, name string) error {
	drawn, err := c.ids.Draw(ctx, c.caller, name, 1)
	if err != nil {
		return err
	}
	c.bulk(drawn.Runs[0].First.String())
	drawn.Done()
	return nil
}

// mget draws as long as the answer can be written in time. If an id cannot be drawn, those
// before it are gaps.
func (c *conn) mget(args [][]byte) error {
	ctx, cancel := context.WithDeadline(c.ctx, c.began.Add(c.Write))
	defer cancel()
	before := len(c.text)
	c.array(len(args))
	for _, name := range args {
		if err := c.drawText(ctx, string(name)); err != nil {
			c.text = c.text[:before]
			return err
		}
	}
	return nil
}

func (c *conn) runs(args [][]byte) error {
	n, err := count(args[1])
	if err != nil {
		return err
	}
	drawn, err := c.ids.DrawRuns(c.ctx, c.caller, c.generator(args[0]), n)
	if err != nil {
		return err
	}
	defer drawn.Done()
	c.dict(4)
	c.pair("instance", drawn.Entry.Instance)
	c.pair("kind", drawn.Entry.Kind)
	c.bulk("number")
	c.int(int64(drawn.Entry.NextNumber()))
	c.bulk("runs")
	c.array(len(drawn.Runs))
	for _, run := range drawn.Runs {
		c.array(2)
		c.bulk(run.First.String())
		c.int(run.N)
		if len(c.text) >= flushBytes {
			c.flush()
		}
	}
	return nil
}

func (c *conn) parseID(args [][]byte) error {
	id, err := uid.ParseID(string(args[1]))
	if err != nil {
		return service.Invalid("the id is %q, want a whole number from 1 to 9223372036854775807", args[1])
	}
	p, err := c.ids.Parse(c.ctx, c.caller, c.generator(args[0]), id)
	switch {
	case err != nil:
		return err
	case p == nil:
		c.dict(2)
		c.pair("id", id.String())
		c.pair("note", "the ids of a counter carry no time")
		return nil
	}
	c.dict(6)
	c.pair("id", id.String())
	c.pair("layout", p.Layout.String())
	c.pair("time", p.Time.Format(time.RFC3339Nano))
	c.bulk("worker")
	c.int(p.Worker)
	c.bulk("sequence")
	c.int(p.Sequence)
	c.bulk("workerParts")
	c.dict(len(p.Named))
	for _, part := range p.Named {
		c.bulk(part.Name)
		c.int(part.Value)
	}
	return nil
}

// list describes the generators that the caller may use.
func (c *conn) list([][]byte) error {
	var mine []Generator
	for _, g := range c.Host.Generators() {
		if c.caller.May(g.Name) || g.Match != "" && c.caller.May(g.Match) {
			mine = append(mine, g)
		}
	}
	c.array(len(mine))
	for _, g := range mine {
		about := [][2]string{{"name", g.Name}, {"kind", g.Kind}}
		for _, more := range [][2]string{{"match", g.Match}, {"layout", g.Layout}, {"fault", g.Fault}} {
			if more[1] != "" {
				about = append(about, more)
			}
		}
		c.dict(len(about) + 1)
		for _, pair := range about {
			c.pair(pair[0], pair[1])
		}
		c.bulk("ids")
		c.int(int64(g.MaxIDs))
	}
	return nil
}
