package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// errNoReader is matched by the error of a write to a pipe whose reader has gone
// away, as head does when it has read enough. It ends a command, and is no fault.
var errNoReader = errors.New("nobody reads standard output")

// errWrite is matched by the error of any other write that fails.
var errWrite = errors.New("write to standard output")

// output is standard output. Its errors say so, and a broken pipe is told from
// one of a database connection. It keeps the first of them, since cobra
// drops those of help.
type output struct {
	w      io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		err = errNoReader
	default:
		err = fmt.Errorf("%w: %w", errWrite, err)
	}
	o.failed = cmp.Or(o.failed, err)
	return n, err
}

// finish flushes out at the end, be it for err. A failure to write, which out
// keeps, is told once.
func finish(out *bufio.Writer, err error) error {
	if failed := out.Flush(); !errors.Is(err, failed) {
		return errors.Join(err, failed)
	}
	return err
}
