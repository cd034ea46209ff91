package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/uidring/uidring/worker/lease"
)

// Numbers is a range of worker numbers, such as 0-99, or those of a site, such as region=3.
type Numbers struct {
	lease.Range
	site string // "" for a range
}

// UnmarshalText reads what MarshalText writes.
func (n *Numbers) UnmarshalText(text []byte) error {
	if strings.Contains(string(text), "=") {
		*n = Numbers{site: string(text)} // the layout says which numbers it has
		return nil
	}
	from, to, _ := strings.Cut(string(text), "-")
	first, err1 := strconv.ParseUint(from, 10, 63)
	last, err2 := strconv.ParseUint(to, 10, 63)
	if err1 != nil || err2 != nil || first > last {
		return fmt.Errorf("is %q, want two numbers, the lower first, such as 0-99, or a site, such as region=3", text)
	}
	*n = Numbers{Range: lease.Range{From: int64(first), To: int64(last)}}
	return nil
}

// MarshalText writes n as configs have it.
func (n Numbers) MarshalText() ([]byte, error) {
	return []byte(cmp.Or(n.site, fmt.Sprintf("%d-%d", n.From, n.To))), nil
}

// Mode is the mode of a file, such as 0660.
type Mode uint32

// UnmarshalText reads what MarshalText writes.
func (m *Mode) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil || n > 0o777 || n&0o600 != 0o600 {
		return fmt.Errorf("is %q, want a file mode in octal, from 0600 to 0777, such as 0660", text)
	}
	*m = Mode(n)
	return nil
}

func (m Mode) String() string { return fmt.Sprintf("%04o", uint32(m)) }

// MarshalText writes m as configs have it.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }
