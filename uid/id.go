package uid

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
)

// ErrSyntax is matched by the error for text, JSON or a database value that is
// no id. The error quotes it.
var ErrSyntax = errors.New("uid: not an id")

// ID is a 64-bit id that fits a BIGINT, sorts by time and is 0 or more:
//
//	 63 62                                        0
//	+--+-----------------+-----------+------------+
//	| 0| ticks           | worker    | sequence   |
//	+--+-----------------+-----------+------------+
//
// The widths are those of the generator's [bits.Layout]. The zero ID stands for
// none: no generator issues it.
//
// As text it is a decimal number. As JSON it is a string, since a number above
// 2^53 does not survive JavaScript; it is read from a string or a number. Shorter
// texts, which sort as the ids do, are [ID.Base32] and [ID.Base62].
type ID int64

// ParseID reads an id from decimal text. Signs, spaces and numbers above 2^63-1
// are refused with an error that quotes the text and matches [ErrSyntax].
func ParseID(text string) (ID, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%w: %s, want at most 9223372036854775807", ErrSyntax, quote(text))
	case err != nil:
		return 0, fmt.Errorf("%w: %s, want a decimal number from 0 to 9223372036854775807", ErrSyntax, quote(text))
	}
	return ID(n), nil
}

// quote shortens what is far too long to be an id, so that an error never
// repeats a whole wrong file.
func quote(text string) string {
	const most = 64
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}

// String returns the id in decimal.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Compare returns -1, 0 or 1, for an id made before, the same, or after. It is
// made for [slices.SortFunc].
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// IsZero reports whether the id is 0, which stands for none.
func (id ID) IsZero() bool { return id == 0 }

// AppendText appends the id in decimal.
func (id ID) AppendText(b []byte) ([]byte, error) {
	return strconv.AppendInt(b, int64(id), 10), nil
}

// MarshalText returns the id in decimal.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText reads an id as [ParseID] does.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// MarshalJSON returns the id as a string in decimal.
func (id ID) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 21), '"')
	b = strconv.AppendInt(b, int64(id), 10)
	return append(b, '"'), nil
}

// UnmarshalJSON reads an id from a string or a number. As is usual, null leaves
// it as it is.
func (id *ID) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	return id.UnmarshalText([]byte(text))
}

// Scan reads an id from a database: an integer, or its decimal text. NULL is an
// error; scan into a *ID or a [database/sql.Null] where it may occur.
func (id *ID) Scan(value any) error {
	switch v := value.(type) {
	case int64:
		if v < 0 {
			return fmt.Errorf("%w: %d, want 0 or more", ErrSyntax, v)
		}
		*id = ID(v)
		return nil
	case uint64:
		return id.UnmarshalText(strconv.AppendUint(nil, v, 10))
	case []byte:
		return id.UnmarshalText(v)
	case string:
		return id.UnmarshalText([]byte(v))
	case *ID: // as ent hands back what it was given
		if v == nil {
			return fmt.Errorf("%w: a nil *uid.ID, want an id", ErrSyntax)
		}
		return id.Scan(int64(*v))
	case nil:
		return fmt.Errorf("%w: NULL; scan into *uid.ID or sql.Null[uid.ID] where it may occur", ErrSyntax)
	default:
		return fmt.Errorf("%w: a %T, want an integer or its decimal text", ErrSyntax, value)
	}
}

// Value returns the id as a BIGINT.
func (id ID) Value() (driver.Value, error) { return int64(id), nil }

// LogValue returns the id as a string, since what reads a JSON log may take
// numbers for doubles.
func (id ID) LogValue() slog.Value { return slog.StringValue(id.String()) }

// GormDataType has GORM's migrator make the column of an id a BIGINT. That is none
// of the integers that GORM has the database count up, so a primary key is left to
// whoever makes ids. It takes no import of GORM.
func (ID) GormDataType() string { return "bigint" }
