package config

import (
	"cmp"
	"encoding"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// decode reads a node into v, which has the defaults. It reports everything that cannot be read, and reads the rest.
func (d *document) decode(field string, node *yaml.Node, v reflect.Value) {
	node, t := followed(node), v.Type()
	text, isText := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
	entry, isEntry := reflect.TypeAssert[*Entry](v.Addr())
	switch kind := t.Kind(); {
	case isEntry:
		d.decodeEntry(field, node, entry)
	case node.ShortTag() == "!!null": // the default
	case isText && node.Kind == yaml.ScalarNode:
		if err := text.UnmarshalText([]byte(node.Value)); err != nil {
			d.fault(field, "%s", cli.WithoutPrefix(err))
		}
	case kind == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.decode(field, node, v.Elem())
	case isText:
		d.fault(field, "want %s", want(t))
	case kind == reflect.Slice && node.Kind == yaml.SequenceNode:
		v.Set(reflect.MakeSlice(t, len(node.Content), len(node.Content)))
		for i, content := range node.Content {
			at := item(field, i)
			d.nodes[at] = content
			if followed(content).ShortTag() == "!!null" {
				d.fault(at, "is empty: remove it")
			}
			d.decode(at, content, v.Index(i))
		}
	case kind == reflect.Struct && node.Kind == yaml.MappingNode:
		fields := maps.Collect(fields(t))
		d.decodeKeys(field, node, keysOf(t), func(key, at string, value *yaml.Node) {
			d.decode(at, value, v.FieldByIndex(fields[key].Index))
		})
	case kind != reflect.Slice && kind != reflect.Struct && node.Kind == yaml.ScalarNode:
		if node.Load(v.Addr().Interface()) != nil {
			d.fault(field, "is %q, want %s", node.Value, want(t))
		}
	default: // without the value: it can be a secret in the wrong place
		d.fault(field, "want %s", want(t))
	}
}

// decodeKeys calls read for the known keys of a mapping, with their fields, and reports all other keys.
func (d *document) decodeKeys(field string, node *yaml.Node, known []string, read func(key, at string, value *yaml.Node)) {
	for key, value := range pairs(node) {
		at := strings.TrimPrefix(field+"."+cmp.Or(key.Value, "?"), ".")
		other, twice := d.nodes[at]
		d.nodes[at] = key
		switch {
		case !slices.Contains(known, key.Value):
			d.fault(at, "there is no such key, want one of %s", strings.Join(known, ", "))
		case twice:
			d.fault(at, "is given twice, want it once: the other is on line %d", other.Line)
		default:
			read(key.Value, at, value)
		}
	}
}

// decodeEntry reads a generator of the kind that it names, with the defaults of that kind. Of one without a kind, it
// reads the name.
func (d *document) decodeEntry(field string, node *yaml.Node, e *Entry) {
	kind := new(yaml.Node)
	for key, value := range pairs(node) {
		if key.Value == "kind" {
			kind = followed(value)
		}
	}
	if of := kinds[kind.Value]; of != nil {
		e.Settings = of()
		d.decode(field, node, reflect.ValueOf(e.Settings).Elem())
		return
	}
	unknown := new(Segment)
	e.Settings = unknown
	d.decodeKeys(field, node, generatorKeys, func(key, at string, value *yaml.Node) {
		if key == "name" {
			d.decode(at, value, reflect.ValueOf(&unknown.Name).Elem())
		}
	})
	switch {
	case kind.Kind == 0 || kind.ShortTag() == "!!null":
		d.fault(field, "want %s", want(reflect.TypeFor[Entry]()))
	case kind.Kind != yaml.ScalarNode:
		d.fault(field+".kind", "want a string")
	default:
		d.fault(field+".kind", "is %q, want %s", kind.Value, kindNames)
	}
}

// followed returns the node that an alias stands for.
func followed(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// pairs yields the keys and values of a mapping, and then those of a mapping that it merges, unless it has them.
func pairs(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		given, merged := map[string]bool{}, new(yaml.Node)
		for _, from := range []*yaml.Node{node, merged} {
			for i := 1; i < len(from.Content) && from.Kind == yaml.MappingNode; i += 2 {
				key, value := from.Content[i-1], from.Content[i]
				if from == node && key.ShortTag() == "!!merge" {
					*merged = *followed(value)
				} else if from == node || !given[key.Value] {
					given[key.Value] = true
					if !yield(key, value) {
						return
					}
				}
			}
		}
	}
}

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

func keysOf(t reflect.Type) (keys []string) {
	for key := range fields(t) {
		keys = append(keys, key)
	}
	return keys
}

// takes says what a value may be, by its type. All others are texts, lists, or have keys.
var takes = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "time.Duration": "a duration such as 1m30s",
	"config.Entry": "keys and values, and a kind: " + kindNames,
}

// want returns what a value of a type may be.
func want(t reflect.Type) string {
	said, found := takes[t.String()]
	switch {
	case found:
		return said
	case t.Kind() == reflect.Pointer:
		return want(t.Elem())
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()), t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Slice:
		return "a list"
	}
	return "keys and values: " + strings.Join(keysOf(t), ", ")
}

var (
	kindNames     = strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	generatorKeys = slices.Collect(allKeys) // of all kinds
)

// allKeys yields the keys that a generator of some kind has, each once.
func allKeys(yield func(string) bool) {
	given := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, key := range keysOf(reflect.TypeOf(kinds[name]()).Elem()) {
			if !given[key] && !yield(key) {
				return
			}
			given[key] = true
		}
	}
}

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
