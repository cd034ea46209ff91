package opaque

import (
	"encoding/binary"

	"github.com/uidring/uidring/internal/alphabet"
)

const textWidth = 26 // characters of 5 bits, so that the first is at most 7

var base32 = alphabet.NewCrockford()

// A Token takes the place of an id in public. [Sealer.Seal] makes a Token, [ParseToken] reads one
// from text, and == compares two. [Sealer.Open] rejects the zero Token, except with a probability
// of 2^-65.
//
// Its text is 26 characters of Crockford's base32, like [uid.ID.Base32]: the 16 bytes as one
// big-endian number. It is safe in URLs, host names and file names, and under collations that
// ignore case. In JSON, a token is a string with that text.
type Token [16]byte

// String returns the token's canonical text.
func (t Token) String() string {
	text := t.text()
	return string(text[:])
}

// AppendText appends the 26 bytes of the canonical text. It allocates only if b has no room.
func (t Token) AppendText(b []byte) ([]byte, error) {
	text := t.text()
	return append(b, text[:]...), nil
}

// MarshalText returns the token's canonical text.
func (t Token) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalText reads a token as [ParseToken] does.
func (t *Token) UnmarshalText(text []byte) error {
	parsed, err := ParseToken(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

func (t Token) text() (text [textWidth]byte) {
	high, low := binary.BigEndian.Uint64(t[:8]), binary.BigEndian.Uint64(t[8:])
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = alphabet.Crockford[low%32]
		high, low = high>>5, high<<59|low>>5
	}
	return text
}

// ParseToken reads a token from the 26 characters of its text. It accepts lower case and, by
// Crockford's rules, I and L for 1 and O for 0: compare tokens, not strings. It rejects hyphens,
// U, strings of any other length and numbers above 2^128-1. The error quotes the text, names the
// invalid character and its position, and matches [ErrSyntax].
func ParseToken(text string) (Token, error) {
	if len(text) != textWidth {
		return Token{}, base32.Fault(ErrSyntax, text, textWidth, "a first character from 0 to 7")
	}
	var high, low uint64
	for i := range len(text) {
		value := base32.Values[text[i]]
		if value == alphabet.None || i == 0 && value > 7 {
			return Token{}, base32.Fault(ErrSyntax, text, textWidth, "a first character from 0 to 7")
		}
		high, low = high<<5|low>>59, low<<5|uint64(value)
	}
	var t Token
	binary.BigEndian.PutUint64(t[:8], high)
	binary.BigEndian.PutUint64(t[8:], low)
	return t, nil
}
