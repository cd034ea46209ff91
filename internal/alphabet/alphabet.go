// Package alphabet has the alphabets in which ids are written with a fixed number of
// characters, and the errors for texts that are no such ids.
package alphabet

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	// Crockford has the characters of Crockford's base32, by value.
	Crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

	// Base62 has digits, capitals and small letters, in ASCII's order.
	Base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// None is the value of a byte that is no character of an alphabet.
const None = 0xff

// Alphabet gives the value of each byte, or None.
type Alphabet struct {
	name   string // for errors
	Values [256]uint8
}

// New returns the alphabet of characters; the value of a character is its index.
func New(name, characters string) *Alphabet {
	a := &Alphabet{name: name}
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

// Fault returns an error that wraps sentinel, quotes text and says why text is not width
// characters of the alphabet. If text is that, the error asks for want.
func (a *Alphabet) Fault(sentinel error, text string, width int, want string) error {
	for i := range min(len(text), width) {
		if a.Values[text[i]] != None {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		return fmt.Errorf("%w: %s, %s at %d is no character of %s, want %d of them",
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
