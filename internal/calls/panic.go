package calls

import (
	"context"
	"fmt"
	"runtime/debug"
)

// PanicError is what a panic in a function that a user supplied becomes. Packages padding and uid export it.
type PanicError struct {
	Package string // that called the function, such as "padding"
	In      string // the function's role, such as "source"
	Value   any    // the argument of panic
	Stack   []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: panic in %s: %v", e.Package, e.In, e.Value)
}

// Unwrap returns the value of the panic where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Call calls f for the package and returns its error, or a [*PanicError] if f panics.
func Call(pkg, role string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Package: pkg, In: role, Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

// A Pending is a function call that runs in its own goroutine.
type Pending[T any] struct {
	done chan struct{}

	// Written before done is closed.
	Value T
	Err   error // as Call returns it
}

// Go is Call for an f that may hang: Go returns at once.
func Go[T any](pkg, role string, f func() (T, error)) *Pending[T] {
	p := &Pending[T]{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.Err = Call(pkg, role, func() (err error) { p.Value, err = f(); return err })
	}()
	return p
}

// Done reports whether f has returned.
func (p *Pending[T]) Done() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait waits until f has returned. It returns an error only if ctx ends before.
func (p *Pending[T]) Wait(ctx context.Context) error {
	if p.Done() {
		return nil
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Await is Call for an f that may go on after ctx has ended: Await returns then.
func Await[T any](ctx context.Context, pkg, role string, f func() (T, error)) (T, error) {
	p := Go(pkg, role, f)
	if err := p.Wait(ctx); err != nil {
		var none T
		return none, err
	}
	return p.Value, p.Err
}
