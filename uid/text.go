package uid

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

const (
	base32Width   = 13 // letters of 5 bits, so that the first is at most 7
	base32Letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	base62Width   = 11 // 62^10 < 2^63 < 62^11
	base62Letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

var (
	base32 = newCoding("Crockford's base32", base32Letters, base32Width, ID(math.MaxInt64).Base32()).fold()
	base62 = newCoding("base62", base62Letters, base62Width, ID(math.MaxInt64).Base62())
)

// Base32 returns the id in Crockford's base32: 13 digits and capital letters
// without I, L, O and U. All ids have that width, so their texts sort as they
// do, byte by byte. There is nothing in them that case, a URL, a file name or a
// person on the telephone could spoil.
//
// An ID below 0, which no generator issues, is written as the 64 bits that it
// has: after all ids, and refused by [ParseBase32].
func (id ID) Base32() string { return string(id.AppendBase32(make([]byte, 0, base32Width))) }

// AppendBase32 appends what [ID.Base32] returns. It allocates nothing if b has
// room for 13 bytes.
func (id ID) AppendBase32(b []byte) []byte {
	var text [base32Width]byte
	n := uint64(id)
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = base32Letters[n%32]
		n /= 32
	}
	return append(b, text[:]...)
}

// ParseBase32 reads an id from 13 letters of Crockford's base32. The text that
// [ID.Base32] writes is the canonical one; read are lower case, too, and as
// Crockford has it I and L for 1 and O for 0. Hyphens, U, other widths and ids
// above 2^63-1 are refused with an error that quotes the text, names the letter
// and its place, and matches [ErrSyntax].
//
// A text does not tell in which form it is written: 13 decimal digits are base32
// as well. Whoever reads has to know.
func ParseBase32(text string) (ID, error) { return base32.parse(text) }

// Base62 returns the id as 11 digits, capitals and small letters, in ASCII's
// order. All ids have that width, so their texts sort as they do, byte by byte;
// a collation that ignores case, as MySQL's usual one, mixes them up. Use it
// where two letters less than [ID.Base32] are worth that.
//
// An ID below 0, which no generator issues, is written as the 64 bits that it
// has: after all ids, and refused by [ParseBase62].
func (id ID) Base62() string { return string(id.AppendBase62(make([]byte, 0, base62Width))) }

// AppendBase62 appends what [ID.Base62] returns. It allocates nothing if b has
// room for 11 bytes.
func (id ID) AppendBase62(b []byte) []byte {
	var text [base62Width]byte
	n := uint64(id)
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = base62Letters[n%62]
		n /= 62
	}
	return append(b, text[:]...)
}

// ParseBase62 reads an id from the 11 letters that [ID.Base62] writes, and from
// no other text. The error quotes the text, names the letter that is wrong and
// its place, and matches [ErrSyntax].
func ParseBase62(text string) (ID, error) { return base62.parse(text) }

// coding reads ids that were written with letters of a fixed number.
type coding struct {
	name   string
	most   string // the text of the largest id
	width  int
	base   uint64
	values [256]uint8 // of a letter; noLetter where it is none
}

const noLetter = 0xff

func newCoding(name, letters string, width int, most string) *coding {
	c := &coding{name: name, most: most, width: width, base: uint64(len(letters))}
	for i := range c.values {
		c.values[i] = noLetter
	}
	for i := range len(letters) {
		c.values[letters[i]] = uint8(i)
	}
	return c
}

// fold has lower case read like upper case, and what looks like a digit as that
// digit.
func (c *coding) fold() *coding {
	for letter := byte('A'); letter <= 'Z'; letter++ {
		c.values[letter|0x20] = c.values[letter]
	}
	for letter, digit := range map[byte]uint8{'I': 1, 'i': 1, 'L': 1, 'l': 1, 'O': 0, 'o': 0} {
		c.values[letter] = digit
	}
	return c
}

func (c *coding) parse(text string) (ID, error) {
	if len(text) != c.width {
		return 0, c.refuse(text)
	}
	var n uint64
	for i := range len(text) {
		value := uint64(c.values[text[i]])
		if value == noLetter {
			return 0, c.refuse(text)
		}
		// All letters but the last make less than 2^63 in either base.
		if i == c.width-1 && n > (math.MaxInt64-value)/c.base {
			return 0, c.refuse(text)
		}
		n = n*c.base + value
	}
	return ID(n), nil
}

// refuse says what is wrong with a text that parse does not take.
func (c *coding) refuse(text string) error {
	for i := range min(len(text), c.width) {
		if c.values[text[i]] != noLetter {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		return fmt.Errorf("%w: %s, %s at %d is no letter of %s, want %d of them",
			ErrSyntax, quote(text), strconv.Quote(text[i:i+size]), i+1, c.name, c.width)
	}
	if len(text) != c.width {
		return fmt.Errorf("%w: %s, want %d letters of %s, not %d",
			ErrSyntax, quote(text), c.width, c.name, utf8.RuneCountInString(text))
	}
	return fmt.Errorf("%w: %s, want at most %s in %s", ErrSyntax, quote(text), c.most, c.name)
}
