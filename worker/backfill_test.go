package worker_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/processes"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A Backfill makes ids under a number that its store has never given, beside those who hold
// others. It refuses a number that is not of a store.
func TestBackfillNumbers(t *testing.T) {
	t.Setenv("POD_NAME", "billing-7")
	db := dbtest.New(t, "sqlite").DB
	registry, leaser := worker.NewRegistry(db, worker.RegistryConfig{}), worker.NewLeaser(db, lease.Config{})
	choosing := func(config lease.Config) *lease.Leaser {
		return lease.New(worker.NewStore(db, worker.StoreConfig{Prefix: "chosen_"}), config)
	}
	seen := map[int64]bool{}
	for _, c := range []struct {
		name   string
		leaser uid.WorkerSource
		want   error // nil is a number
	}{
		{"Leaser", leaser, nil}, // which draws 1, gets it back, and draws another
		{"Leaser again", leaser, nil},
		{"Registry", registry, nil},
		{"Leaser beside a Registry", leaser, nil},
		{"range", choosing(lease.Config{Numbers: &lease.Range{From: 100, To: 101}}), nil},
		{"range again", choosing(lease.Config{Numbers: &lease.Range{From: 100, To: 101}}), nil},
		{"range that is used up", choosing(lease.Config{Numbers: &lease.Range{From: 100, To: 101}}), lease.ErrExhausted},
		{"Leaser that asks for one", choosing(lease.Config{Assigner: lease.NewStatic(9)}), lease.ErrConfig},
		{"StatefulSet", lease.NewStatefulSet(), uid.ErrConfig},
		{"StaticWorker", lease.NewStatic(11), uid.ErrConfig},
		{"an Assigner of the user's", lease.NewPermanent(lease.NewStatic(12)), uid.ErrConfig},
	} {
		b, err := uid.NewBackfill(t.Context(), c.leaser, uid.BackfillConfig{})
		if c.want != nil || err != nil {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: NewBackfill() = %v, want %v", c.name, err, c.want)
			}
			continue
		}
		if _, err := b.At(time.Now().Add(-time.Hour)); err != nil || seen[b.Worker()] {
			t.Errorf("%s: number %d, %v; want another one", c.name, b.Worker(), err)
		}
		seen[b.Worker()] = true
		if err := b.Close(); err != nil {
			t.Errorf("%s: Close() = %v", c.name, err)
		}
	}
}

// layout has ticks of a millisecond.
var layout = bits.Layout{TimeBits: 41, WorkerBits: 10, SequenceBits: 12, Epoch: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), Unit: time.Millisecond}

// stream prints ids of each millisecond until standard input ends.
func stream(a uid.WorkerSource) error {
	gen, err := uid.NewDefault(context.Background(), a, uid.DefaultConfig{Layout: layout})
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(ended) }()
	for {
		select {
		case <-ended:
			return gen.Close()
		case <-time.After(time.Millisecond):
		}
		var ids [4]uid.ID
		if _, err := gen.NextN(ids[:]); err != nil {
			return err
		}
		fmt.Println(strings.Trim(fmt.Sprint(ids), "[]"))
	}
}

// streaming is a child that streams, and what it printed.
type streaming struct {
	cmd   *exec.Cmd
	stdin io.Closer
	mu    sync.Mutex
	lines []string
	ended chan struct{}
}

func startStream(t *testing.T, value string) *streaming {
	t.Helper()
	s := &streaming{cmd: processes.Self(t, 1, childVariable, value)[0], ended: make(chan struct{})}
	var faults strings.Builder
	s.cmd.Stderr = &faults
	stdin, err1 := s.cmd.StdinPipe()
	stdout, err2 := s.cmd.StdoutPipe()
	need.Must(t, errors.Join(err1, err2, s.cmd.Start()))
	s.stdin = stdin
	go func() {
		defer close(s.ended)
		for lines := bufio.NewReader(stdout); ; {
			line, err := lines.ReadString('\n')
			if err != nil { // a line without an end is cut
				_ = s.cmd.Wait()
				return
			}
			s.mu.Lock()
			s.lines = append(s.lines, line)
			s.mu.Unlock()
		}
	}()
	t.Cleanup(s.kill)
	for before := s.count(); s.count() < before+50; time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.ended:
			t.Fatalf("a process has ended: %s", &faults)
		default:
		}
	}
	return s
}

func (s *streaming) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lines)
}

func (s *streaming) kill() { _ = s.cmd.Process.Kill(); <-s.ended }

// Leasers and a Registry run, are killed, stopped and started. A Backfill on their store
// makes ids of each tick in which they lived, while others run. No id is made twice.
func TestBackfillBesideAll(t *testing.T) {
	need.Time(t)
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		of := func(kind string) string { return strings.Join([]string{kind, s.prefix, s.URL, "stream"}, "\n") }
		began := time.Now()
		var children []*streaming
		for i := range 6 {
			kind := of("leaser")
			if i%3 == 2 {
				kind = of("registry")
			}
			children = append(children, startStream(t, kind))
			switch i {
			case 0, 2:
				children[i].kill()
			case 1, 4: // whose number is free then
				_ = children[i].stdin.Close()
				<-children[i].ended
			}
		}
		seen := map[int64]bool{}
		add := func(id int64) {
			if seen[id] {
				parts, _ := bits.NewAllocator(layout)
				t.Fatal(parts.Parse(id))
			}
			seen[id] = true
		}
		for _, leaser := range []uid.WorkerSource{s.leaser(s.DB), s.registry(s.DB)} {
			b, err := uid.NewBackfill(t.Context(), leaser, uid.BackfillConfig{Layout: layout})
			need.Must(t, err)
			for at := began; ; at = at.Add(time.Millisecond) {
				var ids [4]uid.ID
				if _, err := b.AtN(at, ids[:]); errors.Is(err, uid.ErrBackfillTime) {
					break // it has come to its start
				} else if err != nil {
					t.Fatal(err)
				}
				for _, id := range ids {
					add(int64(id))
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, c := range children {
			c.kill()
			for _, line := range c.lines {
				for word := range strings.FieldsSeq(line) {
					id, err := strconv.ParseInt(word, 10, 64)
					need.Must(t, err)
					add(id)
				}
			}
		}
	})
}
