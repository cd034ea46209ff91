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
type kind func() Generator

var kindNames = strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")

// UnmarshalText reads the name of a kind.
func (k *kind) UnmarshalText(text []byte) error {
	if *k = kinds[string(text)]; *k == nil {
		return fmt.Errorf("is %q, want %s", text, kindNames)
	}
	return nil
}

// UnmarshalYAML reads a generator of the kind that it names. In place of zeros, it has the
// defaults of that kind.
func (e *Entry) UnmarshalYAML(node *yaml.Node) error {
	var named struct {
		Kind kind `yaml:"kind"`
	}
	if node.Kind == yaml.MappingNode {
		if err := node.Load(&named); err != nil {
			return err
		}
	}
	if named.Kind == nil {
		return errors.New("want keys and values, and a kind: " + kindNames)
	}
	e.Generator = named.Kind()
	err := node.Load(e.Generator, yaml.WithKnownFields())
	v, usual := reflect.ValueOf(e.Generator).Elem(), reflect.ValueOf(named.Kind()).Elem()
	for _, f := range fields(v.Type()) {
		if to := v.FieldByIndex(f.Index); to.IsZero() {
			to.Set(usual.FieldByIndex(f.Index))
		}
	}
	return err
}

// MarshalYAML writes the generator's own keys.
func (e Entry) MarshalYAML() (any, error) { return e.Generator, nil }

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
