// Package alphabet writes and reads numbers with a fixed number of characters of an alphabet, as
// ids and tokens have them.
package alphabet

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

const (
	// Crockford has the characters of Crockford's base32, by value.
	Crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

	// Base62 has digits, capitals and small letters, in ASCII's order.
	Base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// None is the value of a byte that is not a character of an alphabet.
const None = 0xff

// Alphabet gives the value of each byte, or None.
type Alphabet struct {
	name   string // for errors
	digits string // by value
	Values [256]uint8
}

// New returns the alphabet of characters; the value of a character is its index.
func New(name, characters string) *Alphabet {
	a := &Alphabet{name: name, digits: characters}
	for i := range a.Values {
		a.Values[i] = None
	}
	for i := range len(characters) {
		a.Values[characters[i]] = uint8(i)
	}
	return a
}

// NewCrockford returns the alphabet of Crockford's base32, which reads lower case
// as upper case, I and L as 1, and O as 0.
func NewCrockford() *Alphabet {
	a := New("Crockford's base32", Crockford)
	for c := byte('A'); c <= 'Z'; c++ {
		a.Values[c|0x20] = a.Values[c]
	}
	for c, digit := range map[byte]uint8{'I': 1, 'i': 1, 'L': 1, 'l': 1, 'O': 0, 'o': 0} {
		a.Values[c] = digit
	}
	return a
}

// Text writes n with the last width characters that n has.
func (a *Alphabet) Text(n uint64, width int) string {
	text, base := make([]byte, width), uint64(len(a.digits))
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = a.digits[n%base]
		n /= base
	}
	return string(text)
}

// Parse reads a number up to 2^63-1 from width characters, of which all but the last make less
// than 2^63. An error is that of Fault.
func (a *Alphabet) Parse(sentinel error, text string, width int, want string) (int64, error) {
	if len(text) != width {
		return 0, a.Fault(sentinel, text, width, want)
	}
	base, n := uint64(len(a.digits)), uint64(0)
	for i := range len(text) {
		value := uint64(a.Values[text[i]])
		if value == None || i == width-1 && n > (math.MaxInt64-value)/base {
			return 0, a.Fault(sentinel, text, width, want)
		}
		n = n*base + value
	}
	return int64(n), nil
}

// Fault returns an error that wraps sentinel, quotes text and says why text is not width
// characters of the alphabet. If text is that, the error asks for want.
func (a *Alphabet) Fault(sentinel error, text string, width int, want string) error {
	for i := range min(len(text), width) {
		if a.Values[text[i]] != None {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		return fmt.Errorf("%w: %s, %s at %d is not a character of %s, want %d of them",
			sentinel, Quote(text), strconv.Quote(text[i:i+size]), i+1, a.name, width)
	}
	if len(text) != width {
		return fmt.Errorf("%w: %s, want %d characters of %s, not %d",
			sentinel, Quote(text), width, a.name, utf8.RuneCountInString(text))
	}
	return fmt.Errorf("%w: %s, want %s", sentinel, Quote(text), want)
}

// Quote quotes 64 bytes of text at most, so that no error repeats a whole wrong file.
func Quote(text string) string {
	const most = 64
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
