package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/bits"
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

// longestConfig is the most that is read of a config file.
const longestConfig = 16 << 20

// Read reads the config in a file. Faults of its content are [Faults].
func Read(path string, flags Flags) (*Config, error) {
	text, err := cli.ReadFile(path, longestConfig)
	if err != nil {
		return nil, err
	}
	return Parse(text, flags)
}

// Parse reads a config. Faults are [Faults].
func Parse(text []byte, flags Flags) (*Config, error) {
	var root yaml.Node
	if err := yaml.Load(text, &root); err != nil {
		one, ok := errors.AsType[*yaml.LoadError](err)
		if !ok {
			return nil, err
		}
		return nil, Faults{{Line: max(1, one.Mark.Line), Column: one.Mark.Column, Text: "this is not one YAML document: " + strings.TrimPrefix(one.Message, "yaml: ")}}
	}
	d, c := &document{places: map[string]*yaml.Node{}, keys: map[place]string{}, values: map[place]string{}, texts: map[string]string{}, broken: map[string]bool{}}, defaults()
	d.locate("", root.Content[0])
	d.explain(root.Load(c, strict...))
	c.Listen = cmp.Or(flags.Listen, c.Listen)
	if flags.Redis != "" {
		c.Redis = &Redis{Listen: flags.Redis}
	}
	if len(d.faults) == 0 { // else items may be missing
		c.check(d, flags.Anonymous)
	}
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b Fault) int {
			return slices.Compare([]int{a.Line, a.Column}, []int{b.Line, b.Column})
		})
		return nil, d.faults
	}
	return c, nil
}

// document knows where the fields of a text are, so that faults have lines.
type document struct {
	places map[string]*yaml.Node // of keys and items, by field, such as generators[0].name
	keys   map[place]string      // fields by their keys
	values map[place]string      // fields by their values
	texts  map[string]string     // of fields that are neither lists nor have keys
	broken map[string]bool       // fields with a fault
	faults Faults
}

type place struct{ line, column int }

// locate notes where the fields of a node are. It reports what the YAML library accepts: keys
// that are given twice, and items without a value.
func (d *document) locate(field string, node *yaml.Node) {
	d.values[place{node.Line, node.Column}], d.texts[field] = field, node.Value
	if d.places[field] == nil {
		d.places[field] = node
	}
	for i, content := range node.Content {
		switch key := node.Content[i/2*2]; {
		case node.Kind == yaml.SequenceNode:
			d.locate(item(field, i), content)
			if content.ShortTag() == "!!null" {
				d.fault(item(field, i), "is empty: remove it")
			}
		case i%2 == 1:
			at := strings.TrimPrefix(field+"."+cmp.Or(key.Value, "?"), ".")
			other := d.places[at]
			d.places[at], d.keys[place{key.Line, key.Column}] = key, at
			if other != nil {
				d.fault(at, "is given twice, want it once: the other is in line %d", other.Line)
			}
			d.locate(at, content)
		}
	}
}

// fault adds a fault of a field, unless it has one. A missing field has the place of its
// parent.
func (d *document) fault(field, format string, args ...any) {
	if d.broken[field] {
		return
	}
	node := d.places[field]
	for at := field; node == nil; node = d.places[at] {
		at = parent(at)
	}
	d.broken[field] = true
	d.faults = append(d.faults, Fault{node.Line, node.Column, field, fmt.Sprintf(format, args...)})
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

func parent(field string) string { return field[:max(0, strings.LastIndexAny(field, ".["))] }

// explain adds what the YAML library could not read.
func (d *document) explain(err error) {
	all := new(yaml.LoadErrors)
	if one := (*yaml.LoadError)(nil); !errors.As(err, &all) && errors.As(err, &one) {
		all.Errors = []*yaml.LoadError{one}
	}
	for _, fault := range all.Errors {
		at := place{fault.Mark.Line, fault.Mark.Column}
		key, isKey := d.keys[at]
		field, isValue := d.values[at]
		want := d.takes(field)
		isStruct := strings.HasPrefix(want, keysAndValues)
		switch own := refusal(""); {
		case errors.As(fault, &own), errors.Is(fault, bits.ErrLayout):
			d.fault(field, "%s", cli.WithoutPrefix(fault.Unwrap()))
		case isKey && (!isValue || isStruct): // a mapping can begin with its first key
			d.fault(key, "there is no such key, want one of %s", strings.TrimPrefix(d.takes(parent(key)), keysAndValues))
		case isValue && (isStruct || want == aList || d.texts[field] == ""):
			d.fault(field, "want %s", want)
		case isValue:
			d.fault(field, "is %q, want %s", d.texts[field], want)
		default:
			d.faults = append(d.faults, Fault{Line: at.line, Column: at.column, Text: fault.Message})
		}
	}
}

// takes says what a field may be.
func (d *document) takes(field string) string {
	key, _, isItem := strings.Cut(field[strings.LastIndex(field, ".")+1:], "[")
	if isItem {
		key += "[]"
	}
	return cmp.Or(taken[key+d.texts[field+".kind"]], taken[key])
}
