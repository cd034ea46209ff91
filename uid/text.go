package uid

import "github.com/uidring/uidring/internal/alphabet"

const (
	base32Width = 13 // characters of 5 bits, so that the first is at most 7
	base62Width = 11 // 62^10 < 2^63 < 62^11
)

var (
	base32 = alphabet.NewCrockford()
	base62 = alphabet.New("base62", alphabet.Base62)
)

// Base32 returns the id in Crockford's base32: 13 characters, each a digit or a capital letter
// other than I, L, O or U. The strings sort bytewise as the ids do, survive changes of case, and
// are safe in URLs and file names.
func (id ID) Base32() string { return base32.Text(uint64(id), base32Width) }

// ParseBase32 reads an id from 13 characters of Crockford's base32. It accepts lower case and, by
// Crockford's rules, I and L for 1 and O for 0. It rejects hyphens, U, strings of any other
// length and ids above 2^63-1. The error quotes the text, names the invalid character and its
// position, and matches [ErrSyntax].
//
// Text does not reveal its format: 13 decimal digits are valid base32 too.
func ParseBase32(text string) (ID, error) {
	n, err := base32.Parse(ErrSyntax, text, base32Width, "at most 7ZZZZZZZZZZZZ in Crockford's base32")
	return ID(n), err
}

// Base62 returns the id in 11 characters of base62, whose digits are 0-9, A-Z and a-z, in ASCII
// order. The strings sort bytewise as the ids do. A collation that ignores case, such as MySQL's
// default, treats some of them as equal: prefer [ID.Base32].
func (id ID) Base62() string { return base62.Text(uint64(id), base62Width) }

// ParseBase62 reads an id from the 11 characters that [ID.Base62] writes, and from no other string.
// The errors are the same as for [ParseBase32].
func ParseBase62(text string) (ID, error) {
	n, err := base62.Parse(ErrSyntax, text, base62Width, "at most AzL8n0Y58m7 in base62")
	return ID(n), err
}
