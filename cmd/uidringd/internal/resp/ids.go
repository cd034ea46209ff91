package resp

import (
	"strconv"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

const routeINCR = "redis INCR"

// increment answers n INCRs of a generator: each draw is for as many as the limits of the caller
// let pass together.
func (c *conn) increment(name string, n int) {
	for n > 0 {
		before := c.written()
		drawn, err := c.drawEach(name, n)
		if err != nil {
			text, failed := explain(err)
			for range n {
				c.fail(text)
			}
			c.observe(routeINCR, n, before, failed)
			return
		}
		answered := 0
		for _, run := range drawn.Runs {
			for id := range run.N {
				c.int(int64(run.First) + id)
			}
			answered += int(run.N)
		}
		drawn.Done()
		c.observe(routeINCR, answered, before, nil)
		n -= answered
	}
}

func (c *conn) drawEach(name string, n int) (*service.Drawn, error) {
	if c.refused != nil {
		return nil, c.refused
	}
	if err := c.authenticate(); err != nil {
		return nil, err
	}
	return c.IDs.DrawEach(c.ctx, c.caller, name, n)
}

// attempts is how often INCRBY looks for a run of consecutive ids. The first can meet the
// end of a range, and the second another draw.
const attempts = 3

// incrBy draws n consecutive ids. Ids of a draw without a run of n are a gap.
func (c *conn) incrBy(args [][]byte) error {
	name := string(args[0])
	n, err := count(args[1])
	if err != nil {
		return err
	}
	longest := int64(0)
	for range attempts {
		drawn, err := c.IDs.Draw(c.ctx, c.caller, name, n)
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

// count reads a number as Redis does: without a plus sign or leading zeros.
func count(text []byte) (int, error) {
	n, err := strconv.Atoi(string(text))
	if err != nil || strconv.Itoa(n) != string(text) {
		return 0, errNumber
	}
	return n, nil
}

func (c *conn) get(args [][]byte) error {
	drawn, err := c.IDs.Draw(c.ctx, c.caller, string(args[0]), 1)
	if err != nil {
		return err
	}
	c.bulk(drawn.Runs[0].First.String())
	drawn.Done()
	return nil
}

func (c *conn) runs(args [][]byte) error {
	n, err := count(args[1])
	if err != nil {
		return err
	}
	drawn, err := c.IDs.DrawRuns(c.ctx, c.caller, string(args[0]), n)
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
