package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// Faults are all faults of a config, in the order of its lines.
type Faults []Fault

// Fault is one thing that is wrong.
type Fault struct {
	Line, Column int
	Field, Text  string
}

func (f Faults) Error() string {
	var lines []string
	for _, fault := range f {
		lines = append(lines, fault.String())
	}
	return strings.Join(lines, "\n")
}

func (f Fault) String() string {
	if f.Field == "" {
		return fmt.Sprintf("line %d: %s", f.Line, f.Text)
	}
	return fmt.Sprintf("line %d: %s: %s", f.Line, f.Field, f.Text)
}

// Flags are the flags that change a config.
type Flags struct {
	Listen    string // replaces Config.Listen, unless it is ""
	Redis     string // replaces Config.Redis, unless it is ""
	Anonymous bool   // permits an address other than loopback without authentication
}

// Read reads the config in a file. Faults of its content are [Faults].
func Read(path string, flags Flags) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(text, flags)
}

// Parse reads a config. Faults are [Faults].
func Parse(text []byte, flags Flags) (*Config, error) {
	var root yaml.Node
	if err := yaml.Load(text, &root); err != nil {
		return nil, notYAML(err)
	}
	d := &document{places: map[string]*yaml.Node{}, broken: map[string]bool{}}
	c := defaults()
	d.read("", root.Content[0], reflect.ValueOf(c).Elem())
	c.Listen = cmp.Or(flags.Listen, c.Listen)
	if flags.Redis != "" {
		c.Redis = &Redis{Listen: flags.Redis}
	}
	c.check(d, flags.Anonymous)
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b Fault) int {
			return slices.Compare([]int{a.Line, a.Column}, []int{b.Line, b.Column})
		})
		return nil, d.faults
	}
	return c, nil
}

// notYAML is the fault of a text without a structure.
func notYAML(err error) error {
	one, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return err
	}
	return Faults{{Line: max(1, one.Mark.Line), Column: one.Mark.Column, Text: "this is not one YAML document: " + strings.TrimPrefix(one.Message, "yaml: ")}}
}

// document is a text that is read into a config. It knows where fields are, so that faults
// have lines.
type document struct {
	places map[string]*yaml.Node // by field, such as generators[0].name
	broken map[string]bool       // fields with a fault
	faults Faults
}

// fault adds a fault of a field, unless it has one. A missing field has the place of its
// parent.
func (d *document) fault(field, format string, args ...any) {
	if d.broken[field] {
		return
	}
	node := d.places[field]
	for at := field; node == nil; node = d.places[at] {
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	d.broken[field] = true
	d.faults = append(d.faults, Fault{node.Line, node.Column, field, fmt.Sprintf(format, args...)})
}

// wanted describes the values of a Go type in words.
var wanted = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false",
	"time.Duration": "a duration such as 1m30s", "string": "a text", "[]string": "a list of texts",
}

// read reads the node of a field into v. Of what it cannot read, it reports the fault, and
// leaves v as it is. It shows a value only if the field is a number, a duration or a truth
// value: any other can be a secret in the wrong place.
func (d *document) read(field string, node *yaml.Node, v reflect.Value) {
	if d.places[field] == nil {
		d.places[field] = node
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	to, want := v.Addr().Interface(), wanted[v.Type().String()]
	entry, isEntry := to.(*Entry)
	text, isText := to.(encoding.TextUnmarshaler)
	switch {
	case isEntry:
		d.readEntry(field, node, entry)
	case node.ShortTag() == "!!null":
	case isText && node.Kind == yaml.ScalarNode:
		if err := text.UnmarshalText([]byte(node.Value)); err != nil {
			d.fault(field, "%s", cli.WithoutPrefix(err))
		}
	case isText:
		d.fault(field, "want a text")
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.read(field, node, v.Elem())
	case v.Kind() == reflect.Struct:
		d.readKeys(field, node, v)
	case v.Kind() == reflect.Slice && node.Kind == yaml.SequenceNode:
		v.SetZero() // an empty list is none
		for i, content := range node.Content {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			d.read(item(field, i), content, v.Index(i))
		}
	case v.Kind() == reflect.Slice:
		d.fault(field, "want %s", cmp.Or(want, "a list"))
	case node.Load(to) == nil:
	case node.Kind == yaml.ScalarNode && v.Kind() != reflect.String:
		d.fault(field, "is %q, want %s", node.Value, want)
	default:
		d.fault(field, "want %s", want)
	}
}

// readKeys reads the keys of a struct.
func (d *document) readKeys(field string, node *yaml.Node, v reflect.Value) {
	known := map[string]reflect.Value{}
	var names []string
	for key, f := range fields(v.Type()) {
		known[key], names = v.FieldByIndex(f.Index), append(names, key)
	}
	if node.Kind != yaml.MappingNode {
		d.fault(field, "want keys and values: %s", strings.Join(names, ", "))
		return
	}
	at := func(key string) string { return strings.TrimPrefix(field+"."+key, ".") }
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind != yaml.ScalarNode || key.Value == "" || key.ShortTag() == "!!null" {
			d.faults = append(d.faults, Fault{key.Line, key.Column, field, "a key is no text, want one of " + strings.Join(names, ", ")})
			return
		}
		other := d.places[at(key.Value)]
		d.places[at(key.Value)] = key
		if other != nil {
			d.fault(at(key.Value), "is given twice, want it once: the other is in line %d", other.Line)
		}
	}
	var values map[string]yaml.Node // also of mappings that are merged
	if err := node.Load(&values, yaml.WithUniqueKeys(false)); err != nil {
		d.fault(field, "%s", cli.WithoutPrefix(err))
	}
	for key, value := range values {
		if to, found := known[key]; found {
			d.read(at(key), &value, to)
			continue
		}
		if d.places[at(key)] == nil {
			d.places[at(key)] = &value
		}
		d.fault(at(key), "there is no such key, want one of %s", strings.Join(names, ", "))
	}
}

// readEntry reads a generator of the kind that it names. In place of zeros, it has the
// defaults of that kind.
func (d *document) readEntry(field string, node *yaml.Node, e *Entry) {
	words := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	var values map[string]yaml.Node
	_ = node.Load(&values, yaml.WithUniqueKeys(false)) // readKeys reports what is wrong with other keys
	named, given := values["kind"]
	if named.Kind == yaml.AliasNode {
		named = *named.Alias
	}
	kind, known := kinds[named.Value]
	switch {
	case !given:
		d.fault(field, "want keys and values, and a kind: %s", words)
	case !known:
		d.places[field+".kind"] = &named
		d.fault(field+".kind", "is %q, want %s", named.Value, words)
	default:
		e.Generator = kind()
		v, usual := reflect.ValueOf(e.Generator).Elem(), reflect.ValueOf(kind()).Elem()
		d.readKeys(field, node, v)
		for _, f := range fields(v.Type()) {
			if to := v.FieldByIndex(f.Index); to.IsZero() {
				to.Set(usual.FieldByIndex(f.Index))
			}
		}
	}
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
