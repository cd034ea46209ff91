package opaque

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	textWidth = 26 // letters of 5 bits, so that the first is at most 7
	letters   = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	noLetter  = 0xff
)

// Token stands for an id on the outside. It is made by [Sealer.Seal], compares by
// ==, and is to be had from its text by [ParseToken]. The zero Token is one that
// opens nowhere, but for a chance of 1 in 2^65.
//
// Its text is 26 letters of Crockford's base32, as those of [uid.ID.Base32]: the
// 16 bytes as one number, the highest bits first. Four letters fewer would do if
// small letters counted; but this one passes unharmed through URLs, host and file
// names, collations that ignore case, and over the telephone. As JSON a token is
// a string with that text.
type Token [16]byte

// String returns the token's canonical text.
func (t Token) String() string {
	text := t.text()
	return string(text[:])
}

// AppendText appends the token's canonical text. It allocates nothing if b has
// room for 26 bytes.
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
		text[i] = letters[low%32]
		high, low = high>>5, high<<59|low>>5
	}
	return text
}

// ParseToken reads a token from its text. Next to the canonical text it reads
// lower case, and as Crockford has it I and L for 1 and O for 0: to see whether
// two texts are the same token, compare the tokens. Hyphens, U, other widths and
// numbers above 2^128-1 are refused with an error that quotes the text, names the
// letter and its place, and matches [ErrSyntax].
func ParseToken(text string) (Token, error) {
	if len(text) != textWidth {
		return Token{}, refuse(text)
	}
	var high, low uint64
	for i := range len(text) {
		value := values[text[i]]
		if value == noLetter || i == 0 && value > 7 {
			return Token{}, refuse(text)
		}
		high, low = high<<5|low>>59, low<<5|uint64(value)
	}
	var t Token
	binary.BigEndian.PutUint64(t[:8], high)
	binary.BigEndian.PutUint64(t[8:], low)
	return t, nil
}

// refuse says what is wrong with a text that ParseToken does not take.
func refuse(text string) error {
	for i := range min(len(text), textWidth) {
		if values[text[i]] != noLetter {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		return fmt.Errorf("%w: %s, %s at %d is no letter of Crockford's base32, want %d of them",
			ErrSyntax, quote(text), strconv.Quote(text[i:i+size]), i+1, textWidth)
	}
	if len(text) != textWidth {
		return fmt.Errorf("%w: %s, want %d letters of Crockford's base32, not %d",
			ErrSyntax, quote(text), textWidth, utf8.RuneCountInString(text))
	}
	return fmt.Errorf("%w: %s, want a first letter from 0 to 7", ErrSyntax, quote(text))
}

// quote shortens what is far too long to be a token, so that an error never
// repeats a whole wrong file.
func quote(text string) string {
	const most = 64
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}

// values are those of the letters, and of what is read for them.
var values = func() (values [256]uint8) {
	for i := range values {
		values[i] = noLetter
	}
	for i, letter := range []byte(letters) {
		values[letter] = uint8(i)
		if letter >= 'A' {
			values[letter|0x20] = uint8(i)
		}
	}
	for letter, digit := range map[byte]uint8{'I': 1, 'i': 1, 'L': 1, 'l': 1, 'O': 0, 'o': 0} {
		values[letter] = digit
	}
	return values
}()
