package config

import (
	"cmp"
	"errors"
	"fmt"
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
		text := "want one YAML document with generators: " + strings.TrimPrefix(one.Message, "yaml: ")
		return nil, Faults{{Line: max(1, one.Mark.Line), Text: text}}
	}
	d, c := &document{nodes: map[string]*yaml.Node{"": root.Content[0]}}, defaults()
	d.decode("", root.Content[0], reflect.ValueOf(c).Elem(), "")
	c.Listen = cmp.Or(flags.Listen, c.Listen)
	if flags.Redis != "" {
		c.Redis = &Redis{Listen: flags.Redis}
	}
	d.unreadable = d.faults
	c.check(d, flags.Anonymous)
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
	nodes      map[string]*yaml.Node // by field, such as generators[0].name, its key; of items and the whole, the value
	faults     Faults
	unreadable Faults // those by which fields have no value: of decode
}

// given reports whether the text has a field.
func (d *document) given(field string) bool { return d.nodes[field] != nil }

// fault adds a fault of a field, unless it has one or is unread. A missing field has the position of its
// parent.
func (d *document) fault(field, format string, args ...any) {
	if d.broken(field) || d.unread(field) {
		return
	}
	node := d.nodes[field]
	for parent := field; node == nil; node = d.nodes[parent] {
		parent = parent[:max(0, strings.LastIndexAny(parent, ".["))]
	}
	d.faults = append(d.faults, Fault{node.Line, node.Column, field, fmt.Sprintf(format, args...)})
}

func (d *document) broken(field string) bool {
	return slices.ContainsFunc(d.faults, func(f Fault) bool { return f.Field == field })
}

// unread reports whether a field, or a part of it, has no value, since decode refused that. The field
// stores[].name is that of any store.
func (d *document) unread(field string) bool {
	return slices.ContainsFunc(d.unreadable, func(f Fault) bool {
		at := f.Field
		if strings.Contains(field, "[]") {
			at = index.ReplaceAllString(at, "[]")
		}
		return within(at, field) || within(field, at)
	})
}

var index = regexp.MustCompile(`\[\d+\]`)

// within reports whether a field is another, or a part of it.
func within(field, of string) bool {
	rest, found := strings.CutPrefix(field, of)
	return found && (rest == "" || of == "" || rest[0] == '.' || rest[0] == '[')
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
