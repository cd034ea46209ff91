package gen

import (
	"errors"
	"strconv"
	"strings"
)

// source is a flag that says where the worker number comes from.
type source struct {
	kind   string // leaseSource, registrySource or staticSource
	number int64  // of staticSource
}

const (
	leaseSource    = "lease"
	registrySource = "registry"
	staticSource   = "static:"
)

func (s *source) String() string {
	if s.kind == staticSource {
		return staticSource + strconv.FormatInt(s.number, 10)
	}
	return s.kind
}

func (s *source) Type() string { return "source" }

func (s *source) Set(text string) error {
	if text == leaseSource || text == registrySource {
		*s = source{kind: text}
		return nil
	}
	digits, ok := strings.CutPrefix(text, staticSource)
	n, err := strconv.ParseUint(digits, 10, 63)
	if !ok || err != nil {
		return errors.New("want lease, registry, or static:N with a number from 0 on")
	}
	*s = source{staticSource, int64(n)}
	return nil
}
