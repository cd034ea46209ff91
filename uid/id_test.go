package uid_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

var (
	_ fmt.Stringer             = uid.ID(0)
	_ encoding.TextMarshaler   = uid.ID(0)
	_ encoding.TextAppender    = uid.ID(0)
	_ encoding.TextUnmarshaler = (*uid.ID)(nil)
	_ json.Marshaler           = uid.ID(0)
	_ json.Unmarshaler         = (*uid.ID)(nil)
	_ sql.Scanner              = (*uid.ID)(nil)
	_ driver.Valuer            = uid.ID(0)

	_ encoding.BinaryMarshaler   = uid.ID(0)
	_ encoding.BinaryUnmarshaler = (*uid.ID)(nil)
)

func TestParseID(t *testing.T) {
	for text, want := range map[string]uid.ID{
		"0": 0, "7": 7, "007": 7, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := uid.ParseID(text); got != want || err != nil {
			t.Errorf("ParseID(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "-1", "+1", "1.0", "1e3", "0x10", "abc", "12 ", "１２", "1_000",
		"9223372036854775808", "99999999999999999999999999", "\x00", "12\n",
	} {
		_, err := uid.ParseID(text)
		need.Error(t, err, uid.ErrSyntax, strconv.Quote(text))
	}
	if _, err := uid.ParseID(strings.Repeat("9", 1<<20)); err == nil || len(err.Error()) > 200 {
		t.Error("the error for a megabyte of text quotes all of it")
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("0")
	f.Add("-9223372036854775808")
	f.Add("9223372036854775807")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := uid.ParseID(text)
		if err != nil {
			need.Error(t, err, uid.ErrSyntax)
			return
		}
		back := strings.TrimLeft(text, "0")
		if back == "" {
			back = "0"
		}
		if id < 0 || id.String() != back {
			t.Fatalf("ParseID(%q) = %d", text, id)
		}
	})
}

func TestIDInJSON(t *testing.T) {
	type row struct {
		ID    uid.ID            `json:"id,omitzero"`
		None  uid.ID            `json:"none,omitzero"`
		ByID  map[uid.ID]string `json:"byID"`
		Maybe *uid.ID           `json:"maybe"`
	}
	data, err := json.Marshal(row{ID: math.MaxInt64, ByID: map[uid.ID]string{7: "x"}})
	if want := `{"id":"9223372036854775807","byID":{"7":"x"},"maybe":null}`; string(data) != want || err != nil {
		t.Errorf("Marshal = %s, %v, want %s", data, err, want)
	}
	for text, want := range map[string]uid.ID{
		`"12"`: 12, `12`: 12, `9223372036854775807`: math.MaxInt64, `null`: 5, `"\u0031\u0032"`: 12, `"1\u0032"`: 12,
	} {
		got := uid.ID(5)
		if err := json.Unmarshal([]byte(text), &got); got != want || err != nil {
			t.Errorf("Unmarshal(%s) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{`""`, `"x"`, `-1`, `1.5`, `1e3`, `true`, `{}`, `[1]`, `"-1"`, `9223372036854775808`, `"1`, `"\u0031x"`, `"\u00"`, `"1\"`, `"\n1"`} {
		got := uid.ID(5)
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != 5 {
			t.Errorf("Unmarshal(%s) = %d, %v, want an error and the id left alone", text, got, err)
		}
	}
}

func TestIDInDatabases(t *testing.T) {
	if got, err := uid.ID(12).Value(); got != int64(12) || err != nil {
		t.Errorf("Value() = %v, %v", got, err)
	}
	// ent scans an id from the pointer to it that it was given.
	for _, value := range []any{int64(12), uint64(12), []byte("12"), "12", new(uid.ID(12))} {
		var got uid.ID
		if err := got.Scan(value); got != 12 || err != nil {
			t.Errorf("Scan(%T) = %d, %v", value, got, err)
		}
	}
	need.Error(t, new(uid.ID).Scan(uint64(1<<63)), uid.ErrSyntax, `"9223372036854775808", want at most`)
	for _, value := range []any{nil, int64(-1), uint64(1 << 63), 1.5, true, "x", []byte{}, (*uid.ID)(nil), new(uid.ID(-5))} {
		got := uid.ID(5)
		if err := got.Scan(value); !errors.Is(err, uid.ErrSyntax) || got != 5 {
			t.Errorf("Scan(%v) = %d, %v, want an error and the id left alone", value, got, err)
		}
	}
}

// What can fail fails on a negative id, and no reader takes what the rest writes.
func TestNegativeIDIsNone(t *testing.T) {
	for _, id := range []uid.ID{-1, math.MinInt64} {
		for name, f := range map[string]func() error{
			"MarshalText":   func() error { _, err := id.MarshalText(); return err },
			"AppendText":    func() error { _, err := id.AppendText(nil); return err },
			"MarshalBinary": func() error { _, err := id.MarshalBinary(); return err },
			"MarshalJSON":   func() error { _, err := json.Marshal(id); return err },
			"Value":         func() error { _, err := id.Value(); return err },
			"Scan":          func() error { return new(uid.ID).Scan(int64(id)) },
			"ParseID":       func() error { _, err := uid.ParseID(id.String()); return err },
			"Base32":        func() error { _, err := uid.ParseBase32(id.Base32()); return err },
			"Base62":        func() error { _, err := uid.ParseBase62(id.Base62()); return err },
		} {
			if err := f(); !errors.Is(err, uid.ErrSyntax) {
				t.Errorf("%s of %d: %v, want ErrSyntax", name, id, err)
			}
		}
	}
}
