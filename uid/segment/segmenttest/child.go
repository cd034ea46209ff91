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

const (
	children = 6
	atOnce   = 9 // requests that a process has under way
	each     = 3 // requests of each of these
)

// Child is the first call of a TestMain. The suite starts further processes of the
// test program: in these, Child does the work and exits; in any other, it returns.
// open connects to a [Backend]'s Address.
func Child(open func(address string) (segment.Store, error)) {
	address := os.Getenv(addressVariable)
	if address == "" {
		return
	}
	store, err := open(address)
	if err == nil {
		err = reserve(store)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// reserve prints the ranges that it reserves when standard input ends.
func reserve(store segment.Store) error {
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // which ends for all at once
	type answer struct {
		segment.Range
		err error
	}
	answers := make(chan answer)
	for i := range atOnce {
		go func() {
			for j := range each {
				first, n, err := store.Reserve(context.Background(), tag, int64(1+(i+j)%7))
				answers <- answer{segment.Range{First: first, End: first + n}, err}
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

// processes has six processes reserve with 54 requests under way at once. Their
// ranges are disjoint and leave nothing out.
func processes(b *bench) {
	b.create(tag, 1, 10)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var all []segment.Range
	var stdins []io.Closer
	var outputs []*bufio.Scanner
	for range children {
		cmd := exec.CommandContext(b.Context(), self)
		cmd.Env = append(os.Environ(), addressVariable+"="+b.Address)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := cmd.Wait(); err != nil {
				b.Errorf("%v: %s", err, &stderr)
			}
		}()
		stdins, outputs = append(stdins, stdin), append(outputs, bufio.NewScanner(stdout))
	}
	for _, output := range outputs {
		if !output.Scan() || output.Text() != "ready" {
			b.Errorf("a process began with %q", output.Text())
		}
	}
	for _, stdin := range stdins {
		_ = stdin.Close()
	}
	for _, output := range outputs {
		for output.Scan() {
			var r segment.Range
			if _, err := fmt.Sscan(output.Text(), &r.First, &r.End); err != nil {
				b.Errorf("a process printed %q", output.Text())
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
