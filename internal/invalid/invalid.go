// Package invalid collects what is wrong with a config: all wrong fields, each with its
// value and the values that are allowed.
package invalid

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
)

// ErrConfig is matched by every error about a config. Packages uid, worker/lease and ringbuffer
// export it.
var ErrConfig = errors.New("invalid config")

// Field is the error of one wrong field. It matches [ErrConfig].
type Field struct {
	Name  string // as Go spells it
	Value any
	Want  string // the values that are allowed
	Cause error  // another package's error about the value, which replaces Value and Want; or nil

	list *List
}

// Error names the package, the field and what is wrong.
func (f *Field) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("%s: %v: %s: %v", f.list.pkg, ErrConfig, f.Name, f.Cause)
	}
	return fmt.Sprintf("%s: %v: %s is %v, want %s", f.list.pkg, ErrConfig, f.Name, f.Value, f.Want)
}

// Unwrap returns ErrConfig, and the cause if there is one.
func (f *Field) Unwrap() []error { return []error{ErrConfig, f.Cause} }

// Fields returns the wrong fields that an error holds, also if it joins or wraps the
// errors of several configs.
func Fields(err error) iter.Seq[*Field] {
	return func(yield func(*Field) bool) { walk(err, yield) }
}

func walk(err error, yield func(*Field) bool) bool {
	switch e := err.(type) { //nolint:errorlint // it walks the whole tree
	case *Field:
		return yield(e)
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if !walk(err, yield) {
				return false
			}
		}
	}
	return true
}

// List collects the wrong fields of a config. Make one with [Of].
type List struct {
	pkg  string
	errs []error
}

// Of returns an empty list for a config of a package, which each error names.
func Of(pkg string) *List { return &List{pkg: pkg} }

// Add adds a field, and returns l. Give a text for a value that must not be shown.
func (l *List) Add(name string, value any, want string) *List {
	l.errs = append(l.errs, &Field{Name: name, Value: value, Want: want, list: l})
	return l
}

// Wrap adds a field whose value another package refused, unless err is nil.
func (l *List) Wrap(name string, err error) {
	if err != nil {
		l.errs = append(l.errs, &Field{Name: name, Cause: err, list: l})
	}
}

// Join adds the fields that an error of another list holds, and any other error as it is.
func (l *List) Join(err error) {
	found := false
	for f := range Fields(err) {
		l.errs, found = append(l.errs, &Field{f.Name, f.Value, f.Want, f.Cause, l}), true
	}
	if err != nil && !found {
		l.errs = append(l.errs, err)
	}
}

// Err returns the errors of all fields joined, or nil if no field is wrong.
func (l *List) Err() error { return errors.Join(l.errs...) }

// Range adds a field that is not from least to most.
func Range[T cmp.Ordered](l *List, name string, value, least, most T) {
	if !(least <= value && value <= most) { // NaN too
		l.Add(name, value, fmt.Sprintf("%v to %v", least, most))
	}
}

// Positive adds a field that is not above zero.
func Positive[T cmp.Ordered](l *List, name string, value T) {
	if zero := *new(T); !(value > zero) {
		l.Add(name, value, "more than 0")
	}
}
