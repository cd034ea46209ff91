package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
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
	var text strings.Builder
	for i, fault := range f {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(fault.String())
	}
	return text.String()
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
	if err := yaml.Load(text, &root, yaml.WithUniqueKeys(false)); err != nil {
		return nil, notYAML(err)
	}
	d := &document{places: map[string]*yaml.Node{}, fields: map[[2]int]string{}}
	d.index(&root, "")
	c := defaults()
	if err := root.Load(c, strict...); err != nil {
		d.explain(err)
	}
	c.replace(flags)
	c.check(d, flags.Anonymous)
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b Fault) int {
			return slices.Compare([]int{a.Line, a.Column}, []int{b.Line, b.Column})
		})
		return nil, d.faults
	}
	return c, nil
}

// strict also finds keys that repeat: the document's index does.
var strict = []yaml.Option{yaml.WithKnownFields(), yaml.WithUniqueKeys(false)}

// notYAML is the fault of a text without a structure.
func notYAML(err error) error {
	var all *yaml.LoadErrors
	var one *yaml.LoadError
	if errors.As(err, &all) && len(all.Errors) > 0 {
		one = all.Errors[0]
	} else if !errors.As(err, &one) {
		return err
	}
	return Faults{{Line: max(1, one.Mark.Line), Column: one.Mark.Column, Text: "this is not one YAML document: " + strings.TrimPrefix(one.Message, "yaml: ")}}
}

// document knows where fields are in the text, so that faults have lines.
type document struct {
	places map[string]*yaml.Node // by field, such as generators[0].name
	fields map[[2]int]string     // by line and column, of keys and of values
	broken map[string]bool       // fields with a fault
	faults Faults
}

// index finds the fields below node.
func (d *document) index(node *yaml.Node, field string) {
	d.places[field], d.fields[[2]int{node.Line, node.Column}] = node, field
	switch node.Kind {
	case yaml.DocumentNode:
		d.index(node.Content[0], "")
	case yaml.SequenceNode:
		for i, item := range node.Content {
			d.index(item, fmt.Sprintf("%s[%d]", field, i))
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, below := node.Content[i], node.Content[i].Value
			if field != "" {
				below = field + "." + below
			}
			other := d.places[below]
			d.index(node.Content[i+1], below)
			if other != nil {
				d.fault(below, "is given twice, want it once: the other is in line %d", other.Line)
			}
			d.fields[[2]int{key.Line, key.Column}] = below
		}
	}
}

// fault adds a fault of a field. A missing field has the place of its parent.
func (d *document) fault(field, format string, args ...any) {
	if d.broken[field] {
		return
	}
	node := d.places[field]
	for at := field; node == nil; node = d.places[at] {
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	d.add(Fault{node.Line, node.Column, field, fmt.Sprintf(format, args...)})
}

func (d *document) add(f Fault) {
	if d.broken == nil {
		d.broken = map[string]bool{}
	}
	d.broken[f.Field] = true
	d.faults = append(d.faults, f)
}

var (
	unknownKey = regexp.MustCompile(`^field .* not found in type (.*)$`)
	wrongType  = regexp.MustCompile("^cannot construct (?:!!\\w+ )?(?:`.*` )?into (.*)$")
)

// wanted describes the values of a Go type in words.
var wanted = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false",
	"time.Duration": "a duration such as 1m30s", "string": "a text", "[]string": "a list of texts",
}

// explain adds the library's errors in words of this package. It shows a value only if
// the field is a number, a duration or a truth value: any other can be a secret in the
// wrong place.
func (d *document) explain(err error) {
	var all *yaml.LoadErrors
	if !errors.As(err, &all) {
		d.add(Fault{Line: 1, Text: err.Error()})
		return
	}
	for _, e := range all.Errors {
		at := [2]int{e.Mark.Line, e.Mark.Column}
		f := Fault{at[0], at[1], d.fields[at], cli.WithoutPrefix(errors.New(e.Message))}
		if found := unknownKey.FindStringSubmatch(e.Message); found != nil {
			f.Text = "there is no such key, want one of " + strings.Join(keys(found[1]), ", ")
		} else if found := wrongType.FindStringSubmatch(e.Message); found != nil {
			want, known := wanted[found[1]]
			node := d.places[f.Field]
			switch {
			case !known && strings.HasPrefix(found[1], "[]"):
				f.Text = "want a list"
			case !known:
				f.Text = "want keys and values: " + strings.Join(keys(found[1]), ", ")
			case node != nil && node.Kind == yaml.ScalarNode && want != wanted["string"] && want != wanted["[]string"]:
				f.Text = fmt.Sprintf("is %q, want %s", node.Value, want)
			default:
				f.Text = "want " + want
			}
		}
		d.add(f)
	}
}

// keys returns the keys of a type by its name.
func keys(name string) []string {
	types := []any{Config{}, Redis{}, TLS{}, Store{}, Token{}, Limits{}, Shutdown{}, Log{}, Base{}}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		types = append(types, kinds[kind]())
	}
	for _, v := range types {
		if t := reflect.Indirect(reflect.ValueOf(v)).Type(); t.String() == strings.TrimPrefix(name, "*") {
			return keysOf(t)
		}
	}
	return []string{"those of the documentation"}
}

func keysOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		name, options, tagged := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline"):
			names = append(names, keysOf(t.Field(i).Type)...)
		case tagged || name != "":
			names = append(names, name)
		}
	}
	return names
}

// list is a list that keeps the places of items that cannot be read, so that the faults
// of others have the right index.
type list[T any] []T

// UnmarshalYAML reads all items, and returns the faults of all.
func (l *list[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.SequenceNode {
		return node.Load((*[]T)(l))
	}
	faults := new(yaml.LoadErrors)
	*l = make([]T, len(node.Content))
	for i, item := range node.Content {
		var some *yaml.LoadErrors
		if err := item.Load(&(*l)[i], strict...); errors.As(err, &some) {
			faults.Errors = append(faults.Errors, some.Errors...)
		} else if err != nil {
			return err
		}
	}
	if len(faults.Errors) == 0 {
		return nil
	}
	return faults
}

// UnmarshalYAML reads a generator of the kind that it names.
func (e *Entry) UnmarshalYAML(node *yaml.Node) error {
	var base struct{ Kind string }
	_ = node.Load(&base, yaml.WithUniqueKeys(false)) // check reports what is no kind
	kind, known := kinds[base.Kind]
	if !known {
		return nil
	}
	e.Generator = kind()
	err := node.Load(e.Generator, strict...)
	fill(reflect.ValueOf(e.Generator).Elem(), reflect.ValueOf(kind()).Elem())
	return err
}

// fill puts the defaults in place of zeros.
func fill(v, defaults reflect.Value) {
	for i := range v.NumField() {
		if field := v.Field(i); v.Type().Field(i).Anonymous {
			fill(field, defaults.Field(i))
		} else if field.IsZero() {
			field.Set(defaults.Field(i))
		}
	}
}

// MarshalYAML writes the generator's own keys.
func (e Entry) MarshalYAML() (any, error) { return e.Generator, nil }
