// Package guard turns panics in functions that a user supplied into errors.
package guard

import (
	"fmt"
	"runtime/debug"
)

// PanicError is what a panic in a source, a handler or a clock becomes.
type PanicError struct {
	In    string // the function's role, such as "source"
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("padding: panic in %s: %v", e.In, e.Value) }

// Unwrap returns the value of the panic where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Call calls f and returns its error, or a [*PanicError] if f panics.
func Call(role string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{In: role, Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}
