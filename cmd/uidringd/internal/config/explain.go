package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// The messages of the YAML library, which name types of Go.
var (
	wrongType = regexp.MustCompile(`^cannot construct .* into (\S+)`)
	unknown   = regexp.MustCompile(`^field (?s:.*) not found in type (\S+)$`)
	twice     = regexp.MustCompile(`^mapping key (?s:.*) already defined at line (\d+)$`)
)

// takes says what a value may be, by its type. All others are texts, lists, or have keys.
var takes = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "time.Duration": "a duration such as 1m30s",
}

// keys has the keys of each type.
var keys = map[string]string{}

func init() {
	for _, v := range []any{
		Config{}, Redis{}, TLS{}, Store{}, Token{}, Limits{}, Shutdown{}, Log{},
		Cached{}, Default{}, Slots{}, Segment{}, Tags{},
	} {
		var names []string
		for name := range fields(reflect.TypeOf(v)) {
			names = append(names, name)
		}
		keys[fmt.Sprintf("%T", v)] = strings.Join(names, ", ")
	}
}

// explain adds what the YAML library could not read.
func (d *document) explain(err error) {
	all := new(yaml.LoadErrors)
	if one := (*yaml.LoadError)(nil); !errors.As(err, &all) && errors.As(err, &one) {
		all.Errors = []*yaml.LoadError{one}
	}
	for _, fault := range all.Errors {
		key, _ := d.find(fault.Mark, true)
		field, value := d.find(fault.Mark, false)
		if found := unknown.FindStringSubmatch(fault.Message); found != nil {
			d.fault(key, "there is no such key, want one of %s", keys[found[1]])
		} else if found := twice.FindStringSubmatch(fault.Message); found != nil {
			d.fault(key, "is given twice, want it once: the other is in line %s", found[1])
		} else if found := wrongType.FindStringSubmatch(fault.Message); found != nil {
			d.fault(cmp.Or(field, key), "%s", wanted(found[1], value))
		} else { // of an UnmarshalText, or about anchors
			d.fault(field, "%s", cli.WithoutPrefix(cmp.Or(fault.Unwrap(), error(fault))))
		}
	}
}

// wanted says what a value of a type may be. It does not show what stands where a list, or keys and
// values, belong: that can be a secret in the wrong place.
func wanted(typ string, value *yaml.Node) string {
	want := cmp.Or(takes[typ], "a text")
	switch {
	case strings.HasPrefix(typ, "[]"):
		return "want a list"
	case keys[typ] != "":
		return "want keys and values: " + keys[typ]
	case value == nil || value.Kind != yaml.ScalarNode:
		return "want " + want
	}
	return fmt.Sprintf("is %q, want %s", value.Value, want)
}
