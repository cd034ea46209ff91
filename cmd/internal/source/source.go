// Package source reads where a worker number comes from.
package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kinds of sources.
const (
	Lease       = "lease"
	Registry    = "registry"
	Static      = "static"
	StatefulSet = "statefulset"
)

// Source says where a worker number comes from. Its text is the kind, or static:N.
type Source struct {
	Kind   string
	Number int64 // of Static
}

// Parse reads a text of Static or of one of the other kinds.
func Parse(text string, kinds ...string) (Source, error) {
	kind, digits, numbered := strings.Cut(text, ":")
	if n, err := strconv.ParseUint(digits, 10, 63); kind == Static && err == nil {
		return Source{Static, int64(n)}, nil
	}
	if !numbered && slices.Contains(kinds, kind) {
		return Source{Kind: kind}, nil
	}
	return Source{}, fmt.Errorf("want %s, or static:N, where N is 0 or more", strings.Join(kinds, ", "))
}

func (s Source) String() string {
	if s.Kind == Static {
		return Static + ":" + strconv.FormatInt(s.Number, 10)
	}
	return s.Kind
}

// UnmarshalText reads a text of any kind.
func (s *Source) UnmarshalText(text []byte) (err error) {
	if *s, err = Parse(string(text), Lease, Registry, StatefulSet); err != nil {
		return fmt.Errorf("is %q, %w", text, err)
	}
	return nil
}

// MarshalText writes the text.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
