// Package encoders tests what other libraries make of a uid.ID. Its go.mod has their modules, so
// that no other has.
package encoders

import (
	"bytes"
	"encoding/csv"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/fxamacker/cbor/v2"
	"github.com/hamba/avro/v2"
	"github.com/rs/zerolog"
	"github.com/vmihailenco/msgpack/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"gopkg.in/yaml.v3"

	"github.com/uidring/uidring/uid"
)

// order has an id in the ways in which models have ids.
type order struct {
	ID   uid.ID            `avro:"id"`
	Next *uid.ID           `avro:"next"`
	Rest []uid.ID          `avro:"rest"`
	By   map[uid.ID]uid.ID `avro:"-" bson:"-"`
}

// ids are small, of 8 digits, which are 8 bytes too, and the greatest.
var ids = []uid.ID{1, 12345678, math.MaxInt64}

// sample is an order with the id in every field.
func sample(id uid.ID) order {
	return order{id, &id, []uid.ID{id, 1}, map[uid.ID]uid.ID{id: id}}
}

const schema = `{"type": "record", "name": "order", "fields": [{"name": "id", "type": "long"},
	{"name": "next", "type": ["null", "long"]}, {"name": "rest", "type": {"type": "array", "items": "long"}}]}`

// Each encoder reads back what it wrote, and writes the id in the form that the table in uid.ID
// says.
func TestEncoders(t *testing.T) {
	binary := func(b *bytes.Buffer, v any) error { return gob.NewEncoder(b).Encode(v) }
	for name, tt := range map[string]struct {
		encode  func(v any) ([]byte, error)
		decode  func(data []byte, v any) error
		form    func(id uid.ID) string
		without func(o *order)
	}{
		"json": {json.Marshal, json.Unmarshal, func(id uid.ID) string { return fmt.Sprintf(`"%d":"%[1]d"`, id) }, nil},
		"gob": {func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := binary(&b, v)
			return b.Bytes(), err
		}, func(data []byte, v any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(v) }, uid.ID.String, nil},
		"msgpack": {msgpack.Marshal, msgpack.Unmarshal, uid.ID.String, nil},
		"cbor":    {cbor.Marshal, cbor.Unmarshal, uid.ID.String, nil},
		"yaml":    {yaml.Marshal, yaml.Unmarshal, uid.ID.String, nil},
		"bson":    {bson.Marshal, bson.Unmarshal, nil, func(o *order) { o.By = nil }},
		"avro": {func(v any) ([]byte, error) { return avro.Marshal(avro.MustParse(schema), v) },
			func(data []byte, v any) error { return avro.Unmarshal(avro.MustParse(schema), data, v) }, nil, func(o *order) { o.By = nil }},
	} {
		for _, id := range ids {
			wrote, read := sample(id), order{}
			if tt.without != nil {
				tt.without(&wrote)
			}
			data, err := tt.encode(wrote)
			if err == nil {
				err = tt.decode(data, &read)
			}
			if err != nil || !reflect.DeepEqual(read, wrote) {
				t.Errorf("%s: %v, %v; want %v", name, read, err, wrote)
			}
			if tt.form != nil && !bytes.Contains(data, []byte(tt.form(id))) {
				t.Errorf("%s writes %q, want %s in it", name, data, tt.form(id))
			}
			if tt.form == nil { // an integer, as int64 has it
				type plain struct {
					ID   int64   `avro:"id"`
					Next *int64  `avro:"next"`
					Rest []int64 `avro:"rest"`
				}
				n := int64(id)
				if want, err := tt.encode(plain{n, &n, []int64{n, 1}}); err != nil || !bytes.Equal(data, want) {
					t.Errorf("%s writes %q, want %q, %v", name, data, want, err)
				}
			}
		}
	}
}

// What only writes writes decimal text, in JSON in quotes.
func TestWriters(t *testing.T) {
	const id = uid.ID(math.MaxInt64)
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"csv": func(b *bytes.Buffer) error {
			w := csv.NewWriter(b)
			err := w.Write([]string{id.String()})
			w.Flush()
			return err
		},
		"template": func(b *bytes.Buffer) error { return template.Must(template.New("").Parse("{{.}}")).Execute(b, id) },
		"slog": func(b *bytes.Buffer) error {
			slog.New(slog.NewJSONHandler(b, nil)).Info("", "id", id)
			return nil
		},
		"zap": func(b *bytes.Buffer) error {
			core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(b), zap.InfoLevel)
			zap.New(core).Info("", zap.Any("any", id), zap.Stringer("id", id))
			return nil
		},
		"zerolog": func(b *bytes.Buffer) error {
			log := zerolog.New(b)
			log.Info().Any("any", id).Stringer("id", id).Send()
			return nil
		},
		"protojson": func(b *bytes.Buffer) error {
			data, err := protojson.Marshal(wrapperspb.Int64(int64(id)))
			b.Write(data)
			var read wrapperspb.Int64Value
			if err = errors.Join(err, protojson.Unmarshal(data, &read)); uid.ID(read.Value) != id {
				t.Errorf("protojson reads %d, %v", read.Value, err)
			}
			return err
		},
	} {
		var b bytes.Buffer
		want := id.String()
		if name != "csv" && name != "template" {
			want = strconv.Quote(want)
		}
		if err := write(&b); err != nil || strings.Count(b.String(), want) != strings.Count(b.String(), id.String()) || !strings.Contains(b.String(), want) {
			t.Errorf("%s writes %s, %v; want %s", name, &b, err, want)
		}
	}
}
