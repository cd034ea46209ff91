package config

import (
	"cmp"
	"encoding"
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// takes says what a value may be, by its type. All others are texts, lists, or have keys.
var takes = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "time.Duration": "a duration such as 1m30s",
}

// What may stand at a field, such as stores[].url. A generator's fields are those of its kind,
// such as generators[cached].name.
var (
	wants = map[string]string{}   // what the value may be; "" is known to UnmarshalYAML alone
	keys  = map[string][]string{} // the keys that the value may have
)

func init() {
	describe("", reflect.TypeFor[Config]())
	for name, of := range kinds {
		describe("generators["+name+"]", reflect.TypeOf(of()))
	}
}

func describe(field string, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		wants[field] = "a text"
	case t.Kind() == reflect.Slice:
		wants[field] = "a list"
		describe(field+"[]", t.Elem())
	case t == reflect.TypeFor[Entry](): // its kind decides
		wants[field], wants[field+".kind"], keys[field] = aKind, "a text", []string{"kind"}
	case t.Kind() == reflect.Struct:
		for name, f := range fields(t) {
			keys[field] = append(keys[field], name)
			describe(strings.TrimPrefix(field+"."+name, "."), f.Type)
		}
		wants[field] = "keys and values: " + strings.Join(keys[field], ", ")
	default:
		wants[field] = cmp.Or(takes[t.String()], "a text")
	}
}

// described returns a field as wants and keys have it.
func (d *document) described(field string) string {
	list, rest, indexed := strings.Cut(field, "[")
	i, rest, _ := strings.Cut(rest, "]")
	if kind, ok := d.positions[list+"["+i+"].kind"]; ok && list == "generators" {
		list, i = list+"["+kind.value.Value, "]"
	} else if indexed {
		i = "[]"
	}
	if rest != "" {
		rest = d.described(rest)
	}
	return strings.ReplaceAll(list+i+rest, ".<<", "")
}

// explain adds what the YAML library could not read.
func (d *document) explain(err error) {
	all := new(yaml.LoadErrors)
	if one := (*yaml.LoadError)(nil); !errors.As(err, &all) && errors.As(err, &one) {
		all.Errors = []*yaml.LoadError{one}
	}
	for _, fault := range all.Errors {
		key, _ := d.find(fault.Mark, true)
		field, value := d.find(fault.Mark, false)
		at := strings.LastIndexByte(key, '.') + 1
		known, want := keys[d.described(strings.TrimSuffix(key[:at], "."))], wants[d.described(field)]
		isText := value != nil && value.Kind == yaml.ScalarNode
		switch {
		case key != "" && (value == nil || keys[d.described(field)] != nil) && !slices.Contains(known, key[at:]):
			d.fault(key, "there is no such key, want one of %s", strings.Join(known, ", "))
		case want == "" || value == nil || isText && want == "a text": // of an UnmarshalText or UnmarshalYAML, or about anchors
			d.fault(cmp.Or(field, key), "%s", cli.WithoutPrefix(cmp.Or(fault.Unwrap(), error(fault))))
		case isText && want != "a list" && keys[d.described(field)] == nil:
			d.fault(field, "is %q, want %s", value.Value, want)
		default: // not the value: it can be a secret in the wrong place
			d.fault(field, "want %s", want)
		}
	}
}
