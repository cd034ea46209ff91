package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// kind makes a generator of a kind, with the defaults of that kind.
type kind func() Settings

var kindNames = strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")

// UnmarshalText reads the name of a kind.
func (k *kind) UnmarshalText(text []byte) error {
	if *k = kinds[string(text)]; *k == nil {
		return fmt.Errorf("is %q, want %s", text, kindNames)
	}
	return nil
}

// UnmarshalYAML reads a generator of the kind that it names, with the defaults of that kind.
func (e *Entry) UnmarshalYAML(node *yaml.Node) error {
	var named struct {
		Name string `yaml:"name"`
		Kind kind   `yaml:"kind"`
	}
	if err := node.Load(&named, yaml.WithUniqueKeys(false)); named.Kind == nil {
		e.Settings, e.unread = &Segment{Base: Base{Name: named.Name}}, errors.Join(err, errKind)
		return nil // else the YAML library would leave out the item
	}
	e.Settings = named.Kind()
	e.unread = node.Load(e.Settings, yaml.WithKnownFields(), yaml.WithUniqueKeys(false))
	return nil
}

// errKind is about a generator of no kind, in whose place stands another.
var errKind = errors.New("want " + aKind)

var aKind = "keys and values, and a kind: " + kindNames

// checkZeros reports zeros of keys that have another default: the library would take the default.
func (e Entry) checkZeros(d *document, at string) {
	v, usual := reflect.ValueOf(e.Settings).Elem(), reflect.ValueOf(kinds[e.Common().Kind]()).Elem()
	for key, f := range fields(v.Type()) {
		value, otherwise := v.FieldByIndex(f.Index), usual.FieldByIndex(f.Index)
		if value.IsZero() && !otherwise.IsZero() && value.Kind() != reflect.String {
			d.fault(at+"."+key, "is %v, want another value, or no such key for %v", value, otherwise)
		}
	}
}

// MarshalYAML writes the generator's own keys.
func (e Entry) MarshalYAML() (any, error) { return e.Settings, nil }

// fields yields the keys of a struct with their fields, also those of inlined structs.
func fields(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); key != "" && !yield(key, f) {
				return
			}
		}
	}
}

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
		wants[field] = "a string"
	case t.Kind() == reflect.Slice:
		wants[field] = "a list"
		describe(field+"[]", t.Elem())
	case t == reflect.TypeFor[Entry](): // its kind decides
		wants[field], wants[field+".kind"], keys[field] = aKind, "a string", []string{"kind"}
	case t.Kind() == reflect.Struct:
		for name, f := range fields(t) {
			keys[field] = append(keys[field], name)
			describe(strings.TrimPrefix(field+"."+name, "."), f.Type)
		}
		wants[field] = "keys and values: " + strings.Join(keys[field], ", ")
	default:
		wants[field] = cmp.Or(takes[t.String()], "a string")
	}
}
