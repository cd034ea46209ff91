package config

import (
	"cmp"
	"encoding"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// strict has the YAML library report unknown keys. The method locate reports keys that are
// given twice: the library would read nothing of such a mapping.
var strict = []yaml.Option{yaml.WithKnownFields(), yaml.WithUniqueKeys(false)}

// refusal is the error of a value that a type of this package does not take.
type refusal string

func (r refusal) Error() string { return string(r) }

var kindNames = strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")

// noKind is the fault of an item of generators that has no kind.
var noKind = refusal("want keys and values, and a kind: " + kindNames)

// UnmarshalYAML reads a generator of the kind that it names. In place of zeros, it has the
// defaults of that kind.
func (e *Entry) UnmarshalYAML(node *yaml.Node) error {
	var named struct {
		Kind yaml.Node `yaml:"kind"`
	}
	if err := node.Load(&named, yaml.WithUniqueKeys(false)); err != nil || named.Kind.IsZero() {
		return noKind
	}
	at := &named.Kind
	if at.Kind == yaml.AliasNode {
		at = at.Alias
	}
	kind, known := kinds[at.Value]
	if !known {
		cause := refusal(fmt.Sprintf("is %q, want %s", at.Value, kindNames))
		return &yaml.LoadErrors{Errors: []*yaml.LoadError{
			yaml.NewLoadError(yaml.ConstructorStage, cause.Error(), yaml.Mark{Line: at.Line, Column: at.Column}, cause),
		}}
	}
	e.Generator = kind()
	err := node.Load(e.Generator, strict...)
	v, usual := reflect.ValueOf(e.Generator).Elem(), reflect.ValueOf(kind()).Elem()
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

// What keys take that have keys of their own, or many values. A wrong value of these is not
// shown: it can be a secret in the wrong place.
const (
	keysAndValues = "keys and values: "
	aList         = "a list"
)

// takes says what other keys take, by their type in Go.
var takes = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "time.Duration": "a duration such as 1m30s",
}

// taken says what each key takes. An item of a list has [] behind its key, and a generator its
// kind too. keyOf has the key of each field that the library's configs name.
var taken, keyOf = map[string]string{}, map[string]string{}

func init() {
	learn("", reflect.TypeFor[Config]())
	keyOf["Hosts"] = "hosts"
	for name, kind := range kinds {
		of := reflect.TypeOf(kind()).Elem()
		learn("generators[]"+name, of)
		for key, f := range fields(of) {
			keyOf[f.Name] = key
		}
	}
}

func learn(key string, t reflect.Type) {
	switch text := reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()); {
	case t.Kind() == reflect.Pointer:
		learn(key, t.Elem())
	case t.Kind() == reflect.Slice:
		taken[key] = aList
		learn(key+"[]", t.Elem())
	case t.Kind() == reflect.Struct && !text:
		var names []string
		for name, f := range fields(t) {
			names = append(names, name)
			learn(name, f.Type)
		}
		taken[key] = keysAndValues + strings.Join(names, ", ")
	default:
		taken[key] = cmp.Or(takes[t.String()], "a text")
	}
}
