// Package guard turns panics in functions that a user supplied into errors.
package guard

import (
	"context"
	"fmt"
	"runtime/debug"
)

// PanicError is what a panic in a function that a user supplied becomes.
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

// Await is Call for an f that may go on after ctx has ended: Await returns then. f runs in
// a goroutine of its own.
func Await[T any](ctx context.Context, pkg, role string, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		a.err = Call(pkg, role, func() (err error) { a.value, err = f(); return err })
		answered <- a
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
