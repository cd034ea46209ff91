package config

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
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
	usual := reflect.ValueOf(defaults()).Elem()
	for key, f := range fields(usual.Type(), "") {
		of := f.Type
		if of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if key == "generators" || of.Kind() != reflect.Struct {
			row(code(key), otherwise(usual, f), wanted(f, key, key+": %s"+smallest), says[key])
			continue
		}
		takes, _, _ := strings.Cut(want(f.Type), ":")
		row(code(key), "", takes, says[key])
		list := key
		if takes == "a list" {
			list += "[]"
		}
		for name, sub := range fields(of, "") {
			values := wanted(sub, key+"."+name, key+": {"+name+": %s}"+smallest)
			row(code(list+"."+name), otherwise(usual.FieldByIndex(f.Index), sub), values, says[key+"."+name])
		}
	}
	text.WriteString("\n## Generators\n\nThe keys of items in `generators`, by kind.\n\n")
	row("key", "kinds", "default", "values", "")
	row("---", "---", "---", "---", "---")
	usual = reflect.ValueOf(defaultGenerator())
	for key, f := range fields(usual.Type(), "") {
		kind, _, _ := strings.Cut(cmp.Or(f.Tag.Get("kinds"), kinds), ",")
		config := fmt.Sprintf("stores: [{name: db, url: x.db}]\ngenerators: [{%s: %%s, <<: {name: a, kind: %s, store: db}}]", key, kind)
		values := wanted(f, "generators[0]."+key, config)
		if key == "store" {
			values = "a name from `stores`"
		}
		row(code(key), cmp.Or(f.Tag.Get("kinds"), "all"), otherwise(usual, f), values, says["generators."+key])
	}
	return text.String() + "\n" + limits
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// otherwise returns the default of a key of a section. A list has none, nor has a key of a section that is left out.
func otherwise(section reflect.Value, f reflect.StructField) string {
	if section.Kind() != reflect.Struct || f.Type.Kind() == reflect.Slice {
		return ""
	}
	value := section.FieldByIndex(f.Index)
	if value.IsZero() && strings.Contains(f.Tag.Get("yaml"), "omitempty") {
		return ""
	}
	return code(fmt.Sprint(value))
}

// wrong are values that no key takes whose values are bounded, by what the key takes.
var wrong = map[string][]string{
	"a whole number": {"-9000000000000000", "9000000000000000000"}, "a number": {"-1e300"}, "a string": {`"?"`},
	"a duration such as 1m30s": {"1ns", "-99999h", "99999h"},
}

// either makes what an error about a layout says a wish.
var either = strings.NewReplacer("is neither ", "want ", ", nor one of ", ", or one of ")

// wanted returns the range of a field, or what a fault wants if a config has a wrong value there, or what the field's type takes.
func wanted(f reflect.StructField, field, config string) string {
	if span := f.Tag.Get("range"); span != "" {
		return span
	}
	for _, value := range wrong[want(f.Type)] {
		_, err := Parse(fmt.Appendf(nil, config, value), Flags{})
		faults, _ := errors.AsType[Faults](err)
		for _, fault := range faults {
			if _, want, found := strings.Cut(either.Replace(fault.Text), "want "); found && fault.Field == field {
				return strings.ReplaceAll(want, "|", `\|`)
			}
		}
	}
	return want(f.Type)
}

// smallest follows a key of a config without other faults.
const smallest = "\ngenerators: [{name: a, kind: cached, worker: \"static:1\"}]\n"
