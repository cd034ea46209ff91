package config

import (
	"cmp"
	_ "embed"
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Sample has every key, with a comment where the name does not say all.
//
//go:embed testdata/uidringd.yaml
var Sample string

//go:embed limits.txt
var limits string

// sampleLine is a key of the sample, with its depth and its comment.
var sampleLine = regexp.MustCompile(`(?m)^( *)(?:- )?([a-z0-9_]+):[^#\n]*(?:# (.*))?$`)

// Reference returns tables of Markdown, and how the limits work. The tables have all keys with their
// defaults, their values, and what the sample says of them. The values are what a fault wants in the place of a wrong one.
func Reference() string {
	says, section := map[string]string{}, ""
	for _, line := range sampleLine.FindAllStringSubmatch(Sample, -1) {
		key := section + "." + line[2]
		if line[1] == "" {
			section, key = line[2], line[2]
		}
		says[key] = cmp.Or(says[key], line[3])
	}
	delete(says, "generators.kind")
	var text strings.Builder
	row := func(cells ...string) {
		text.WriteString(strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |\n", "|  |", "| |"))
	}
	row("key", "default", "values", "")
	row("---", "---", "---", "---")
	usual := flat(defaults())
	for _, key := range keys[""] {
		list := key
		if wants[key] == "a list" {
			list += "[]"
		}
		if key == "generators" || keys[list] == nil {
			row(code(key), code(usual[key]), wanted("", key), says[key])
			continue
		}
		row(code(key), "", strings.TrimSuffix(wants[key], ": "+strings.Join(keys[list], ", ")), says[key])
		for _, name := range keys[list] {
			row(code(list+"."+name), code(usual[key+"."+name]), wanted(key, name), says[key+"."+name])
		}
	}
	text.WriteString("\n## Generators\n\nThe keys of items in `generators`, by kind.\n\n")
	row("key", "kinds", "default", "values", "")
	row("---", "---", "---", "---", "---")
	done := map[string]bool{}
	for kind := range strings.SplitSeq(kindNames, ", ") {
		usual := flat(kinds[kind]())
		for _, name := range keys["generators["+kind+"]"] {
			if done[name] {
				continue
			}
			done[name] = true
			var of []string
			for other := range strings.SplitSeq(kindNames, ", ") {
				if _, has := wants["generators["+other+"]."+name]; has {
					of = append(of, other)
				}
			}
			in := strings.Join(of, ", ")
			if in == kindNames {
				in = "all"
			}
			row(code(name), in, code(usual[name]), wanted("generators["+kind+"]", name), says["generators."+name])
		}
	}
	return text.String() + "\n" + limits
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// flat returns the values of a config by their fields.
func flat(v any) map[string]string {
	text, err := yaml.Dump(v)
	var root yaml.Node
	if err == nil {
		err = yaml.Load(text, &root)
	}
	if err != nil {
		panic(err) // the config is of this package
	}
	d := &document{positions: map[string]position{}}
	d.locate("", position{value: root.Content[0]})
	values := map[string]string{}
	for field, at := range d.positions {
		if at.value.Kind == yaml.ScalarNode {
			values[field] = at.value.Value
		}
	}
	return values
}

// wrong are values that no key takes whose values are bounded, by what the key takes.
var wrong = map[string][]string{
	"a whole number": {"-9000000000000000", "9000000000000000000"}, "a number": {"-1e300"}, "a string": {`"?"`},
	takes["time.Duration"]: {"1ns", "-99999h", "99999h"},
}

// either makes what an error about a layout says a wish.
var either = strings.NewReplacer("is neither ", "want ", ", nor one of ", ", or one of ")

// wanted returns what a fault of a key wants, in a section or a kind of generator, or what the key takes.
func wanted(section, name string) string {
	kind, generator := strings.CutPrefix(section, "generators[")
	kind = strings.TrimSuffix(kind, "]")
	field := strings.TrimPrefix(section+"."+name, ".")
	takes := cmp.Or(wants[field], wants[section+"[]."+name])
	if generator && name == "store" {
		return "a name from `stores`"
	}
	for _, value := range wrong[takes] {
		var text string
		at := field
		switch {
		case generator:
			at = "generators[0]." + name
			values := map[string]string{"name": "a", "kind": kind, "store": "db", name: value}
			text = "stores: [{name: db, url: x.db}]\ngenerators: [{"
			for key, value := range values {
				text += key + ": " + value + ", "
			}
			text += "}]"
		case section != "":
			text = section + ": {" + name + ": " + value + "}" + smallest
		default:
			text = name + ": " + value + smallest
		}
		_, err := Parse([]byte(text), Flags{})
		var faults Faults
		_ = errors.As(err, &faults)
		for _, fault := range faults {
			if _, want, found := strings.Cut(either.Replace(fault.Text), "want "); found && fault.Field == at {
				return strings.ReplaceAll(want, "|", `\|`)
			}
		}
	}
	return takes
}

// smallest follows a key of a config without other faults.
const smallest = "\ngenerators: [{name: a, kind: cached, worker: \"static:1\"}]\n"
