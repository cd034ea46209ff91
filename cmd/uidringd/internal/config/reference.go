package config

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
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
	for key, f := range fields(reflect.TypeFor[Config]()) {
		takes, of := want(f.Type), f.Type
		if of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if key == "generators" || !strings.HasPrefix(want(of), "keys and values") {
			row(code(key), code(usual[key]), wanted(takes, key, func(wrong string) string { return key + ": " + wrong + smallest }), says[key])
			continue
		}
		takes, _, _ = strings.Cut(takes, ":")
		row(code(key), "", takes, says[key])
		list := key
		if takes == "a list" {
			list += "[]"
		}
		for name, f := range fields(of) {
			values := wanted(want(f.Type), key+"."+name, func(wrong string) string { return key + ": {" + name + ": " + wrong + "}" + smallest })
			row(code(list+"."+name), code(usual[key+"."+name]), values, says[key+"."+name])
		}
	}
	text.WriteString("\n## Generators\n\nThe keys of items in `generators`, by kind.\n\n")
	row("key", "kinds", "default", "values", "")
	row("---", "---", "---", "---", "---")
	done := map[string]bool{}
	for kind := range strings.SplitSeq(kindNames, ", ") {
		usual := flat(kinds[kind]())
		for name, f := range fields(reflect.TypeOf(kinds[kind]()).Elem()) {
			if done[name] {
				continue
			}
			done[name] = true
			var of []string
			for other := range strings.SplitSeq(kindNames, ", ") {
				if slices.Contains(keysOf(reflect.TypeOf(kinds[other]()).Elem()), name) {
					of = append(of, other)
				}
			}
			in := strings.Join(of, ", ")
			if in == kindNames {
				in = "all"
			}
			values := wanted(want(f.Type), "generators[0]."+name, func(wrong string) string { return generator(kind, name, wrong) })
			if name == "store" {
				values = "a name from `stores`"
			}
			row(code(name), in, code(usual[name]), values, says["generators."+name])
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
	var tree map[string]any
	if err = cmp.Or(err, yaml.Load(text, &tree)); err != nil {
		panic(err) // the config is of this package
	}
	values := map[string]string{}
	for key, value := range tree {
		section, ok := value.(map[string]any)
		if _, list := value.([]any); !ok && !list {
			values[key] = fmt.Sprint(value)
		}
		for name, value := range section {
			values[key+"."+name] = fmt.Sprint(value)
		}
	}
	return values
}

// wrong are values that no key takes whose values are bounded, by what the key takes.
var wrong = map[string][]string{
	"a whole number": {"-9000000000000000", "9000000000000000000"}, "a number": {"-1e300"}, "a string": {`"?"`},
	"a duration such as 1m30s": {"1ns", "-99999h", "99999h"},
}

// either makes what an error about a layout says a wish.
var either = strings.NewReplacer("is neither ", "want ", ", nor one of ", ", or one of ")

// wanted returns what a fault of a field wants if a config has a wrong value there, else what the field takes.
func wanted(takes, field string, config func(wrong string) string) string {
	for _, value := range wrong[takes] {
		_, err := Parse([]byte(config(value)), Flags{})
		faults, _ := errors.AsType[Faults](err)
		for _, fault := range faults {
			if _, want, found := strings.Cut(either.Replace(fault.Text), "want "); found && fault.Field == field {
				return strings.ReplaceAll(want, "|", `\|`)
			}
		}
	}
	return takes
}

// generator returns a config of one generator of a kind, with a value of a key.
func generator(kind, key, value string) string {
	values := map[string]string{"name": "a", "kind": kind, "store": "db", key: value}
	var pairs []string
	for key, value := range values {
		pairs = append(pairs, key+": "+value)
	}
	return "stores: [{name: db, url: x.db}]\ngenerators: [{" + strings.Join(pairs, ", ") + "}]"
}

// smallest follows a key of a config without other faults.
const smallest = "\ngenerators: [{name: a, kind: cached, worker: \"static:1\"}]\n"
