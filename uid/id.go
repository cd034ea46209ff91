package uid

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/uidring/uidring/internal/alphabet"
)

// ErrSyntax means that text, JSON or a database value is not an id, or that an ID is negative. The
// error quotes it.
var ErrSyntax = errors.New("uid: not an id")

// ID is a non-negative 64-bit id that fits in a BIGINT. Ids from a counter, whether a segment's or
// a server's, are plain numbers. All others sort by the time that they carry, and consist of these
// fields:
//
//	 63 62                                        0
//	+--+-----------------+-----------+------------+
//	| 0| ticks           | worker    | sequence   |
//	+--+-----------------+-----------+------------+
//
// The widths are those of the generator's [bits.Layout]. The zero ID means no id: no generator
// issues it.
//
// In text and binary form, an ID is a decimal number. In JSON it is a string, since JavaScript
// rounds numbers above 2^53; UnmarshalJSON accepts a string or a number. (protojson, too, writes
// an int64 as a string.) [ID.Base32] and [ID.Base62] return 13 and 11 characters, which sort as
// the ids do. Libraries encode an ID in these forms, and those that also decode accept the same
// forms:
//
//	fmt, encoding/csv, text/template, slog, rueidis (as String)   decimal text
//	encoding/json and keys of its maps, yaml.v3, zap, zerolog     "decimal text"
//	go-redis, encoding/gob                                        decimal text
//	msgpack, CBOR                                                 bytes with the decimal text
//	database/sql, BSON, Avro, Protobuf (as int64)                 a 64-bit integer
//
// Every driver can store an ID in a BIGINT. For a TEXT or VARCHAR column in PostgreSQL, pgx
// requires a string: pass the result of [ID.String] or, in a model, define a type such as type
// TextID struct{ uid.ID }, whose Value method returns that string. ID.Scan can read such a column.
//
// A nil *ID is written as null, NULL or <nil>, except by encoders that call a method through it,
// which panics: go-redis (omit such a field with omitempty), gob in a slice or map, yaml.v3 in an
// interface, attributes of encoding/xml, and Stringer of zerolog. Read NULL into an *ID or a
// [database/sql.Null]. A negative ID is invalid: methods fail with [ErrSyntax], or write text that
// no parser in this package accepts.
//
// To let the compiler tell kinds of ids apart, embed ID in a struct with no other field. A type
// defined directly, as in type OrderID uid.ID, would lose the methods. A few libraries see the struct
// and not the id: [docs/databases.md] says what they need.
//
//	type OrderID struct{ uid.ID }
//
// [docs/databases.md]: https://github.com/uidring/uidring/blob/main/docs/databases.md#encoders-and-mappers
type ID int64

// ParseID parses a decimal number from 0 to 2^63-1 as an id. For any other text, including text
// with a sign or a space, the error quotes it and matches [ErrSyntax].
func ParseID(text string) (ID, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%w: %s, want at most 9223372036854775807", ErrSyntax, alphabet.Quote(text))
	case err != nil:
		return 0, fmt.Errorf("%w: %s, want a decimal number from 0 to 9223372036854775807", ErrSyntax, alphabet.Quote(text))
	}
	return ID(n), nil
}

// String returns the id in decimal.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// IsZero reports whether the id is 0, which means no id.
func (id ID) IsZero() bool { return id == 0 }

func (id ID) check() error {
	if id < 0 {
		return fmt.Errorf("%w: %d, want 0 or more", ErrSyntax, int64(id))
	}
	return nil
}

// AppendText appends the id in decimal.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if err := id.check(); err != nil {
		return b, err
	}
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

// MarshalBinary returns the id in decimal, as MarshalText does, because go-redis stores this form.
// For 8 bytes that sort as the ids do, for example as a key in a key-value store, use
// binary.BigEndian.AppendUint64(nil, uint64(id)).
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalBinary reads an id as [ParseID] does.
func (id *ID) UnmarshalBinary(data []byte) error { return id.UnmarshalText(data) }

// MarshalJSON returns the id in decimal, as a JSON string.
func (id ID) MarshalJSON() ([]byte, error) {
	b, err := id.AppendText(append(make([]byte, 0, 21), '"'))
	if err != nil {
		return nil, err
	}
	return append(b, '"'), nil
}

// UnmarshalJSON reads an id from a string or a number. It ignores null.
func (id *ID) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	switch last := len(data) - 1; {
	case last > 0 && data[0] == '"' && data[last] == '"' && !bytes.ContainsRune(data, '\\'):
		data = data[1:last]
	case last >= 0 && data[0] == '"': // with an escape, such as \u0031
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return fmt.Errorf("%w: %w", ErrSyntax, err)
		}
		data = []byte(text)
	}
	return id.UnmarshalText(data)
}

// Scan reads an id from a database value: an integer or decimal text. NULL is an error; where
// NULL may occur, scan into an *ID or a [database/sql.Null].
func (id *ID) Scan(value any) error {
	switch v := value.(type) {
	case int64:
		if err := ID(v).check(); err != nil {
			return err
		}
		*id = ID(v)
		return nil
	case uint64:
		return id.UnmarshalText(strconv.AppendUint(nil, v, 10))
	case []byte:
		return id.UnmarshalText(v)
	case string:
		return id.UnmarshalText([]byte(v))
	case *ID: // from ent
		if v == nil {
			return fmt.Errorf("%w: a nil *uid.ID, want an id", ErrSyntax)
		}
		return id.Scan(int64(*v))
	case nil:
		return fmt.Errorf("%w: NULL, want an id; where NULL may occur, declare the destination as *uid.ID or sql.Null[uid.ID]", ErrSyntax)
	default:
		return fmt.Errorf("%w: a %T, want an integer or its decimal text", ErrSyntax, value)
	}
}

// Value returns the id as an int64, for a BIGINT column.
func (id ID) Value() (driver.Value, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	return int64(id), nil
}

// GormDataType makes GORM's migrations declare a column of type ID as BIGINT. GORM does not make
// such a column auto-increment.
func (ID) GormDataType() string { return "bigint" }
