package encoders

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/hamba/avro/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"github.com/vmihailenco/msgpack/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"gopkg.in/yaml.v3"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// panics has the encoders that call a method through a nil *uid.ID, as the comment of uid.ID names
// them.
var panics = map[string]string{
	"go-redis":         "go-redis (omit such a field with omitempty)",
	"gob/slice":        "gob in a slice or map",
	"gob/map":          "gob in a slice or map",
	"yaml/any":         "yaml.v3 in an interface",
	"xml/attribute":    "attributes of encoding/xml",
	"zerolog/stringer": "Stringer of zerolog",
}

// A nil *uid.ID panics in the encoders that the comment of uid.ID names, and in no other, whether it
// stands alone, in a struct, a slice, a map or an interface.
func TestNil(t *testing.T) {
	comment, err := os.ReadFile("../../../uid/id.go")
	need.Must(t, err)
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(comment), "\n//", " ")), " ")
	for name, encode := range nilEncoders(t.Context()) {
		want, documented := panics[name]
		switch fault := recovered(encode); {
		case (fault != nil) != documented:
			t.Errorf("%s: %v; want a panic: %t", name, fault, documented)
		case documented && !strings.Contains(text, want):
			t.Errorf("%s: the comment of uid.ID does not say %q", name, want)
		}
	}
}

func recovered(encode func()) (fault any) {
	defer func() { fault = recover() }()
	encode()
	return nil
}

func nilEncoders(ctx context.Context) map[string]func() {
	var id *uid.ID
	forms := map[string]any{"alone": id, "struct": order{}, "slice": []*uid.ID{id}, "map": map[string]*uid.ID{"a": id}, "any": map[string]any{"a": id}}
	var b bytes.Buffer
	logged := zerolog.New(&b)
	zapped := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&b), zap.InfoLevel))
	slogged := slog.New(slog.NewJSONHandler(&b, nil))
	client := redis.NewClient(&redis.Options{MaxRetries: -1, Dialer: refusing})
	all := map[string]func(){
		"avro": func() { _, _ = avro.Marshal(avro.MustParse(schema), order{}) },
		"xml/element": func() {
			type row struct{ ID *uid.ID }
			_, _ = xml.Marshal(row{})
		},
		"zap/stringer":     func() { zapped.Info("", zap.Stringer("id", id)) },
		"zerolog/stringer": func() { logged.Info().Stringer("id", id).Send() },
		"go-redis":         func() { client.Set(ctx, "key", id, 0) },
		"xml/attribute": func() {
			type row struct {
				ID *uid.ID `xml:"id,attr"`
			}
			_, _ = xml.Marshal(row{})
		},
		"go-redis/omitempty": func() {
			client.HSet(ctx, "key", struct {
				A  int     `redis:"a"`
				ID *uid.ID `redis:"id,omitempty"`
			}{})
		},
	}
	for form, v := range forms {
		all["json/"+form] = func() { _, _ = json.Marshal(v) }
		all["msgpack/"+form] = func() { _, _ = msgpack.Marshal(v) }
		all["cbor/"+form] = func() { _, _ = cbor.Marshal(v) }
		all["yaml/"+form] = func() { _, _ = yaml.Marshal(v) }
		all["bson/"+form] = func() { _, _ = bson.Marshal(bson.D{{Key: "v", Value: v}}) }
		all["fmt/"+form] = func() { _ = fmt.Sprintf("%v %s %d %+v", v, v, v, v) }
		all["slog/"+form] = func() { slogged.Info("", "id", v) }
		all["zap/"+form] = func() { zapped.Info("", zap.Any("id", v)) }
		all["zerolog/"+form] = func() { logged.Info().Any("id", v).Send() }
		if form != "alone" { // a nil pointer of any type panics there
			all["gob/"+form] = func() { _ = gob.NewEncoder(&b).Encode(v) }
		}
	}
	return all
}

// refusing returns a connection to a server that knows no command.
func refusing(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		for p := make([]byte, 4096); ; {
			n, err := theirs.Read(p)
			if err != nil {
				return
			}
			commands := strings.Count("\n"+string(p[:n]), "\n*")
			if _, err := theirs.Write(bytes.Repeat([]byte("-ERR\r\n"), commands)); err != nil {
				return
			}
		}
	}()
	return ours, nil
}
