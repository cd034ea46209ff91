package config

import (
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
