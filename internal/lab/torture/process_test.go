//go:build linux

package torture

import (
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// span is the n ids from first on, all of one tick and number if they have a time.
type span struct{ first, n int64 }

func (s span) meets(r span) bool { return r.first < s.first+s.n && s.first < r.first+r.n }

// grant is a grant as a process received it. Instants are milliseconds since
// 1970.
type grant struct{ attempt, number, from, until int64 }

// process is a child as its parent knows it. read writes the child's records; others may
// read them once ended is closed, and the atomics at any time.
type process struct {
	order
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr logged.Text
	shift  time.Duration // of its clock; written by who moves it
	killed atomic.Bool   // by the parent; set before it is
	asked  atomic.Bool   // by the parent, to end; set before it is
	ended  chan struct{}

	attempt  int64           // that opened its generator; 0 is none
	writes   []version       // of rows, before they are made
	done     []string        // tokens of those that the store reported done
	ranges   []span          // that it reserved of the counter
	returns  []span          // of those, before they are given back
	spans    [drawers][]span // in the order in which they came
	disorder []string        // ids that did not ascend
	grants   []grant
	events   map[string]int64 // as the report names them
	closed   bool
	closing  string // what Close said

	opened  atomic.Bool
	number  atomic.Int64 // the last granted; -1 is none
	losses  atomic.Int64 // of its number
	lacks   atomic.Int64 // milliseconds that its clock is too slow for its number
	reached atomic.Int64 // the first id of its last range
	rewound atomic.Bool  // it has refused what the counter gave
	refuses atomic.Bool  // that is what it has to do; written by the nemesis
}

// start starts a child with its order. One goroutine calls heard
// with the number of ids that the child has reported. It calls fail before ended is closed
// if the parent did not want the end, or the child has told of a fault.
func start(o order, heard func(ids int64), fail func(error)) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err // the layout is not valid
	}
	p := &process{order: o, cmd: exec.Command(os.Args[0]), ended: make(chan struct{}), events: map[string]int64{}}
	p.number.Store(-1)
	p.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = &p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		if err := p.read(stdout, heard); err != nil {
			fail(err)
		}
	}()
	return p, nil
}

// read takes the child's records until the child ends. It returns an error for an end that
// the parent did not want, and for a record of a fault.
func (p *process) read(in io.Reader, heard func(ids int64)) error {
	var said error
	decoder := gob.NewDecoder(in)
	for {
		var records []record
		if err := decoder.Decode(&records); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				said = errors.Join(said, err)
				p.signal(syscall.SIGKILL)
			}
			_, _ = io.Copy(io.Discard, in)
			break
		}
		for _, rec := range records {
			said = errors.Join(said, p.take(rec, heard))
		}
	}
	err := p.cmd.Wait()
	switch {
	case said != nil:
		return fmt.Errorf("%s: %w", p.Host, said)
	case p.killed.Load() || err == nil && p.closed:
		return nil
	case p.asked.Load() && !p.opened.Load() && p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGTERM:
		return nil // it did not listen to signals yet
	}
	return fmt.Errorf("%s ended by itself: %v, said: %s", p.Host, err, &p.stderr)
}

// take takes a record. It returns an error for one of a fault.
func (p *process) take(rec record, heard func(ids int64)) error {
	n := rec.Numbers
	switch rec.Kind {
	case recordIDs:
		p.add(n[0], span{n[1], n[2]})
		p.lacks.Store(0)
		heard(n[2])
	case recordGrant:
		p.granted(grant{n[0], n[1], n[2], n[3]})
	case recordOpen:
		p.attempt = n[0]
		p.opened.Store(true)
	case recordNone:
		p.events["refusals"]++
		p.lacks.Store(n[0])
		if n[1] > 0 {
			p.rewound.Store(true)
		}
	case recordWrite:
		token, old, _ := strings.Cut(rec.Text, " ")
		p.writes = append(p.writes, version{holder{p.Host, n[0]}, n[1], token, old, n[2], leasestore.Change(n[3])})
	case recordDone:
		p.done = append(p.done, rec.Text)
	case recordRange:
		p.ranges = append(p.ranges, span{n[0], n[1]})
		p.returns = slices.DeleteFunc(p.returns, span{n[0], n[1]}.meets) // the child owns them again
		p.reached.Store(n[0])
	case recordReturn:
		p.returns = append(p.returns, span{n[0], n[1] - n[0]})
		p.events["returns of ranges"]++
	case recordEvent:
		p.events[rec.Text] += n[0]
	case recordClosed:
		p.closed, p.closing = true, rec.Text
	case recordFatal:
		return errors.New(rec.Text)
	}
	return nil
}

// add takes ids that a goroutine has drawn. They must lie above its earlier ids, except
// for Slots.
func (p *process) add(drawer int64, s span) {
	spans := &p.spans[drawer]
	for s.n > 0 {
		part := span{s.first, min(s.n, p.rest(s.first))}
		if k := len(*spans); k > 0 {
			last := &(*spans)[k-1]
			end := last.first + last.n
			if part.first < end && p.Kind != kindSlots {
				p.disorder = append(p.disorder, fmt.Sprintf("%s: id %d after %d", p.Host, part.first, end-1))
			}
			if part.first == end && p.rest(last.first) > last.n {
				last.n += part.n
				s = span{s.first + part.n, s.n - part.n}
				continue
			}
		}
		*spans = append(*spans, part)
		s = span{s.first + part.n, s.n - part.n}
	}
}

func (p *process) granted(g grant) {
	switch {
	case g.number >= 0:
		p.grants = append(p.grants, g)
	case p.number.Load() >= 0: // the loss is reported again and again until another number is held
		p.losses.Add(1)
	}
	p.number.Store(g.number)
}

// total returns how many ids the child has reported.
func (p *process) total() (n int64) {
	for _, s := range slices.Concat(p.spans[:]...) {
		n += s.n
	}
	return n
}

// holding reports whether the child has a generator and, as far as is known, a
// number if it needs one.
func (p *process) holding() bool {
	return p.opened.Load() && (p.Kind == kindCounter || !p.Leaser.recorded() || p.number.Load() >= 0)
}

// stamping reports whether the child holds a number and its clock matters.
func (p *process) stamping() bool { return p.Kind != kindCounter && p.holding() }

// move moves the child's clock.
func (p *process) move(shift time.Duration) {
	p.shift = shift
	_, _ = io.WriteString(p.stdin, strconv.FormatInt(int64(shift), 10)+"\n") // it may have been killed meanwhile
}

// signal sends the child a signal, unless it has ended.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the child at once.
func (p *process) kill() {
	p.killed.Store(true)
	p.signal(syscall.SIGKILL)
	<-p.ended
}
