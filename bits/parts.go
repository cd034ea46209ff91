package bits

import (
	"fmt"
	"strconv"
	"strings"
)

// WorkerPart is a part of a worker number, such as Snowflake's machine.
type WorkerPart struct {
	Name  string // as in Layout.WorkerParts, or part1, part2 and so on
	Bits  uint8
	Value int64
}

// JoinWorker returns the worker number with the given parts, in the order of Layout.WorkerParts.
// If the layout has no parts, the only value is the number itself. The error matches [ErrRange]
// and names the part that does not fit.
func (a *Allocator) JoinWorker(values ...int64) (int64, error) {
	if len(values) != len(a.parts) {
		return 0, fmt.Errorf("%w: %d parts of a worker number, want %d for %s", ErrRange, len(values), len(a.parts), a.layout)
	}
	var worker int64
	for i, part := range a.parts {
		if err := inRange(part.Name, values[i], 1<<part.Bits-1); err != nil {
			return 0, err
		}
		worker = worker<<part.Bits | values[i]
	}
	return worker, nil
}

// SplitWorker returns the parts of a worker number, in the order of Layout.WorkerParts. If the
// layout has no parts, the only part is the number itself, named worker. The error matches
// [ErrRange].
func (a *Allocator) SplitWorker(worker int64) ([]WorkerPart, error) {
	if err := inRange("worker", worker, a.maxWorker); err != nil {
		return nil, err
	}
	parts := append([]WorkerPart(nil), a.parts...)
	for i := len(parts) - 1; i >= 0; i-- {
		parts[i].Value = worker & (1<<parts[i].Bits - 1)
		worker >>= parts[i].Bits
	}
	return parts, nil
}

// WorkerRange returns the least and the greatest worker number of a site, such as region=3. A site
// consists of the worker numbers whose first part has that name and value. The ranges of different
// sites never overlap. The error matches [ErrRange].
func (a *Allocator) WorkerRange(site string) (first, last int64, err error) {
	part := a.parts[0]
	name, text, _ := strings.Cut(site, "=")
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || name != part.Name {
		return 0, 0, fmt.Errorf("%w: the site is %q, want a value of the first part of the worker number in %s, such as %s=1", ErrRange, site, a.layout, part.Name)
	}
	if err := inRange(part.Name, value, 1<<part.Bits-1); err != nil {
		return 0, 0, err
	}
	rest := a.layout.WorkerBits - part.Bits
	return value << rest, (value+1)<<rest - 1, nil
}

func (l Layout) workerParts() ([]WorkerPart, error) {
	if l.WorkerParts == "" {
		return []WorkerPart{{Name: "worker", Bits: l.WorkerBits}}, nil
	}
	parts, err := parseWorkerParts(l.WorkerParts)
	if err == nil && bitsOf(parts) != int(l.WorkerBits) {
		err = fmt.Errorf("%w: WorkerParts is %q with %d bits in all, want WorkerBits (%d)",
			ErrLayout, l.WorkerParts, bitsOf(parts), l.WorkerBits)
	}
	return parts, err
}

func parseWorkerParts(text string) ([]WorkerPart, error) {
	var parts []WorkerPart
	names := make(map[string]bool)
	for i, part := range strings.Split(text, "+") {
		name, width, named := strings.Cut(part, ":")
		if !named {
			name, width = fmt.Sprintf("part%d", i+1), part
		}
		n, err := strconv.Atoi(width)
		if err != nil || n < 1 || n > TotalBits || strconv.Itoa(n) != width || !isName(name) {
			return nil, fmt.Errorf("%w: part %q of the worker in %q, want a width from 1 to %d, such as 5, or a name and a width, such as machine:5",
				ErrLayout, part, text, TotalBits)
		}
		if names[name] {
			return nil, fmt.Errorf("%w: two parts of the worker number are named %s in %q", ErrLayout, name, text)
		}
		names[name] = true
		parts = append(parts, WorkerPart{Name: name, Bits: uint8(n)})
	}
	return parts, nil
}

// isName reports whether text is an ASCII letter, then letters, digits, _ and -.
func isName(text string) bool {
	for i, c := range []byte(text) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '_' && c != '-') {
			return false
		}
	}
	return text != ""
}

func bitsOf(parts []WorkerPart) (sum int) {
	for _, part := range parts {
		sum += int(part.Bits)
	}
	return sum
}
