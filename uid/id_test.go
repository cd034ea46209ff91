package uid_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

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
	_ slog.LogValuer           = uid.ID(0)
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
		if !errors.Is(err, uid.ErrSyntax) || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("ParseID(%q): error %v, want the text in it", text, err)
		}
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
			if !errors.Is(err, uid.ErrSyntax) {
				t.Fatalf("ParseID(%q): %v does not match ErrSyntax", text, err)
			}
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
		ID    uid.ID            `json:"id"`
		ByID  map[uid.ID]string `json:"byID"`
		Maybe *uid.ID           `json:"maybe"`
	}
	data, err := json.Marshal(row{ID: math.MaxInt64, ByID: map[uid.ID]string{7: "x"}})
	if want := `{"id":"9223372036854775807","byID":{"7":"x"},"maybe":null}`; string(data) != want || err != nil {
		t.Errorf("Marshal = %s, %v, want %s", data, err, want)
	}
	for text, want := range map[string]uid.ID{`"12"`: 12, `12`: 12, `9223372036854775807`: math.MaxInt64, `null`: 5} {
		got := uid.ID(5)
		if err := json.Unmarshal([]byte(text), &got); got != want || err != nil {
			t.Errorf("Unmarshal(%s) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{`""`, `"x"`, `-1`, `1.5`, `1e3`, `true`, `{}`, `[1]`, `"-1"`, `9223372036854775808`, `"1`, `"\u0031x"`} {
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
	for _, value := range []any{int64(12), uint64(12), []byte("12"), "12"} {
		var got uid.ID
		if err := got.Scan(value); got != 12 || err != nil {
			t.Errorf("Scan(%T) = %d, %v", value, got, err)
		}
	}
	for _, value := range []any{nil, int64(-1), uint64(1 << 63), 1.5, true, "x", []byte{}} {
		got := uid.ID(5)
		if err := got.Scan(value); !errors.Is(err, uid.ErrSyntax) || got != 5 {
			t.Errorf("Scan(%v) = %d, %v, want an error and the id left alone", value, got, err)
		}
	}
}

func TestIDElsewhere(t *testing.T) {
	ids := []uid.ID{3, 1, 2}
	slices.SortFunc(ids, uid.ID.Compare)
	if !slices.Equal(ids, []uid.ID{1, 2, 3}) {
		t.Errorf("sorted: %v", ids)
	}
	if !uid.ID(0).IsZero() || uid.ID(1).IsZero() {
		t.Error("IsZero is wrong")
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "id", uid.ID(math.MaxInt64))
	if want := `"id":"9223372036854775807"`; !strings.Contains(log.String(), want) {
		t.Errorf("logged %s, want %s in it", log.String(), want)
	}
}

// ent scans an id from the pointer to it that it was given.
func TestScanPointer(t *testing.T) {
	var id uid.ID
	five := uid.ID(5)
	if err := id.Scan(&five); err != nil || id != 5 {
		t.Errorf("Scan(&5) = %d, %v", id, err)
	}
	negative := uid.ID(-5)
	for _, bad := range []*uid.ID{nil, &negative} {
		if err := id.Scan(bad); !errors.Is(err, uid.ErrSyntax) {
			t.Errorf("Scan(%v) = %v, want ErrSyntax", bad, err)
		}
	}
}
