package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// described returns a field as wants and keys have it.
func (d *document) described(field string) string {
	list, rest, indexed := strings.Cut(field, "[")
	i, rest, _ := strings.Cut(rest, "]")
	if kind, ok := d.positions[list+"["+i+"].kind"]; ok && list == "generators" {
		list, i = list+"["+kind.value.Value, "]"
	} else if indexed {
		i = "[]"
	}
	if rest != "" {
		rest = d.described(rest)
	}
	return strings.ReplaceAll(list+i+rest, ".<<", "")
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
		at := strings.LastIndexByte(key, '.') + 1
		known, want := keys[d.described(strings.TrimSuffix(key[:at], "."))], wants[d.described(field)]
		isText := value != nil && value.Kind == yaml.ScalarNode
		switch {
		case key != "" && (value == nil || keys[d.described(field)] != nil) && !slices.Contains(known, key[at:]):
			d.fault(key, "there is no such key, want one of %s", strings.Join(known, ", "))
		case want == "" || value == nil || isText && want == "a string": // of an UnmarshalText or UnmarshalYAML, or about anchors
			d.fault(cmp.Or(field, key), "%s", cli.WithoutPrefix(cmp.Or(fault.Unwrap(), error(fault))))
		case isText && want != "a list" && keys[d.described(field)] == nil:
			d.fault(field, "is %q, want %s", value.Value, want)
		default: // not the value: it can be a secret in the wrong place
			d.fault(field, "want %s", want)
		}
	}
}
