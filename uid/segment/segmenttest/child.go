package segmenttest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/uidring/uidring/uid/segment"
)

// addressVariable is set in the processes that the suite starts.
const addressVariable = "UIDRING_SEGMENTTEST_ADDRESS"

// ready is what a process prints when it waits for the start.
const ready = "ready"

const (
	children = 6
	atOnce   = 9 // goroutines of a process that reserve at the same time
	each     = 3 // requests of a goroutine, one after the other
)

// Child reserves ranges and exits, in the processes of the test program that the suite
// starts. In any other process it returns. Call it first in TestMain. open connects to a
// [Backend]'s Address.
func Child(open func(address string) (segment.Store, error)) {
	address, ok := os.LookupEnv(addressVariable)
	if !ok {
		return
	}
	store, err := open(address)
	if err == nil {
		fmt.Println(ready)
		_, _ = io.Copy(io.Discard, os.Stdin) // until the suite starts all processes
		err = reserve(store)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// reserve reserves ranges and prints them.
func reserve(store segment.Store) error {
	type answer struct {
		reserved
		err error
	}
	answers := make(chan answer)
	for i := range atOnce {
		go func() {
			for j := range each {
				first, n, err := store.Reserve(context.Background(), tag, int64(1+(i+j)%7))
				answers <- answer{reserved{First: first, End: first + n}, err}
			}
		}()
	}
	for range atOnce * each {
		a := <-answers
		if a.err != nil {
			return a.err
		}
		fmt.Println(a.First, a.End)
	}
	return nil
}

// processes: six processes reserve, with 54 requests at the same time. Their ranges are
// disjoint and leave nothing out.
func processes(b *bench) {
	b.create(tag, 1, 10)
	var all []reserved
	for _, printed := range b.started() {
		for lines := bufio.NewScanner(printed); lines.Scan(); {
			var r reserved
			if _, err := fmt.Sscan(lines.Text(), &r.First, &r.End); err != nil {
				b.Fatalf("a process printed %q", lines.Text())
			}
			all = append(all, r)
		}
	}
	if err := disjoint(all); err != nil {
		b.Error(err)
	}
	total := int64(1)
	for _, r := range all {
		total += r.End - r.First
	}
	if now := b.next(tag); len(all) != children*atOnce*each || total != now {
		b.Errorf("%d ranges up to %d, and the counter is %d", len(all), total, now)
	}
}

// started starts the processes, and lets them reserve once all are ready. It returns what
// each prints.
func (b *bench) started() []io.Reader {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	wait, start, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer wait.Close()
	printed := make([]io.Reader, children)
	for i := range printed {
		cmd := exec.CommandContext(b.Context(), self)
		cmd.Env = append(os.Environ(), addressVariable+"="+b.Address)
		cmd.Stdin, cmd.Stderr = wait, os.Stderr
		output, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = cmd.Wait() }) // its ranges say whether it failed
		printed[i] = bufio.NewReader(output)
	}
	for _, p := range printed {
		if line, err := p.(*bufio.Reader).ReadString('\n'); strings.TrimSpace(line) != ready {
			b.Errorf("a process began with %q, %v", line, err)
		}
	}
	_ = start.Close()
	return printed
}
