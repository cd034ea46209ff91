package config

import (
	"cmp"
	"encoding"
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// decode reads a node into v, which has the defaults. It reports everything that cannot be read or is not in the range
// of a number, if there is one, and reads the rest.
func (d *document) decode(field string, node *yaml.Node, v reflect.Value, span string) {
	node, t := followed(node), v.Type()
	text, isText := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
	switch kind := t.Kind(); {
	case node.ShortTag() == "!!null": // the default
	case isText && node.Kind == yaml.ScalarNode:
		if err := text.UnmarshalText([]byte(node.Value)); err != nil {
			d.fault(field, "%s", cli.WithoutPrefix(err))
		}
	case kind == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.decode(field, node, v.Elem(), span)
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
			d.decode(at, content, v.Index(i), "")
		}
	case kind == reflect.Struct && node.Kind == yaml.MappingNode:
		d.decodeKeys(field, node, v)
	case kind != reflect.Slice && kind != reflect.Struct && node.Kind == yaml.ScalarNode:
		value := reflect.New(t)
		switch {
		case node.Load(value.Interface()) != nil:
			d.fault(field, "is %q, want %s", node.Value, want(t))
		case span != "" && !inRange(value.Elem(), span):
			d.fault(field, "is %v, want %s", value.Elem(), span)
		default:
			v.Set(value.Elem())
		}
	default: // without the value: it can be a secret in the wrong place
		d.fault(field, "want %s", want(t))
	}
}

// decodeKeys reads the keys of a struct, and reports all other keys. A generator's kind decides which keys it has.
func (d *document) decodeKeys(field string, node *yaml.Node, v reflect.Value) {
	g, isGenerator := reflect.TypeAssert[*Generator](v.Addr())
	var of struct{ Kind string }
	if isGenerator {
		*g = defaultGenerator()
		_ = node.Load(&of) // what cannot be read is reported below
	}
	known := maps.Collect(fields(v.Type(), of.Kind))
	for _, pair := range pairs(node) {
		key := pair[0]
		at := strings.TrimPrefix(field+"."+cmp.Or(key.Value, "?"), ".")
		other, twice := d.nodes[at]
		d.nodes[at] = key
		if f, found := known[key.Value]; !found {
			d.fault(at, "there is no such key, want one of %s", keys(v.Type(), of.Kind))
		} else if twice {
			d.fault(at, "is given twice, want it once: the other is on line %d", other.Line)
		} else {
			value := v.FieldByIndex(f.Index)
			usual := value.Interface()
			d.decode(at, pair[1], value, f.Tag.Get("range"))
			// Of a zero, the library would take the default.
			if isGenerator && value.IsZero() && !reflect.ValueOf(usual).IsZero() && value.Kind() != reflect.String {
				d.fault(at, "is %v, want another value, or no such key for %v", value, usual)
			}
		}
	}
	if isGenerator && !isKind(g.Kind) {
		d.fault(field+".kind", "is %q, want %s", g.Kind, kinds)
	}
}

// inRange reports whether a number is in a range such as 1ms to 1h.
func inRange(v reflect.Value, span string) bool {
	least, most, _ := strings.Cut(span, " to ")
	low, high := reflect.New(v.Type()), reflect.New(v.Type())
	if err := errors.Join(yaml.Load([]byte(least), low.Interface()), yaml.Load([]byte(most), high.Interface())); err != nil {
		panic(err) // the tag is of this package
	}
	if v.CanFloat() {
		return low.Elem().Float() <= v.Float() && v.Float() <= high.Elem().Float()
	}
	return low.Elem().Int() <= v.Int() && v.Int() <= high.Elem().Int()
}

// followed returns the node that an alias stands for.
func followed(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// pairs returns the keys of a mapping with their values, and then those of a mapping that it merges, unless it has them.
func pairs(node *yaml.Node) (all [][]*yaml.Node) {
	merged := new(yaml.Node)
	for pair := range slices.Chunk(node.Content, 2) {
		if value := followed(pair[1]); pair[0].ShortTag() == "!!merge" && value.Kind == yaml.MappingNode {
			merged = value
		} else {
			all = append(all, pair)
		}
	}
	for pair := range slices.Chunk(merged.Content, 2) {
		if !slices.ContainsFunc(all, func(given []*yaml.Node) bool { return given[0].Value == pair[0].Value }) {
			all = append(all, pair)
		}
	}
	return all
}

// fields yields the keys of a struct with their fields, also those of inlined structs. Of a
// generator, it yields those of a kind, or all if the kind is unknown.
func fields(t reflect.Type, kind string) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			of, limited := f.Tag.Lookup("kinds")
			if key != "" && (!limited || !isKind(kind) || strings.Contains(of, kind)) && !yield(key, f) {
				return
			}
		}
	}
}

func isKind(text string) bool { return slices.Contains(strings.Split(kinds, ", "), text) }

// keys lists what fields yields.
func keys(t reflect.Type, kind string) string {
	var all []string
	for key := range fields(t, kind) {
		all = append(all, key)
	}
	return strings.Join(all, ", ")
}

// takes says what a value may be, by its type. All others are texts, lists, or have keys.
var takes = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "time.Duration": "a duration such as 1m30s",
	"config.Generator": "keys and values, and a kind: " + kinds,
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
	return "keys and values: " + keys(t, "")
}

// MarshalYAML writes the keys of the generator's kind.
func (g Generator) MarshalYAML() (any, error) {
	type every Generator
	node := new(yaml.Node)
	err := node.Dump(every(g))
	known := maps.Collect(fields(reflect.TypeOf(g), g.Kind))
	pairs := slices.DeleteFunc(pairs(node), func(pair []*yaml.Node) bool {
		_, found := known[pair[0].Value]
		return !found
	})
	node.Content = slices.Concat(pairs...)
	return node, err
}
