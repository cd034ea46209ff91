package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// live are the keys that a server takes over while it runs, a whole list or group by its
// name. The listener, connections and generators keep all others until a restart.
var live = []string{
	"hosts", "tokens", "shutdown", "log.requests_per_s",
	"limits.ids", "limits.run_ids", "limits.requests_per_s", "limits.burst", "limits.waiting", "limits.requests",
	"limits.connections", "limits.per_address", "limits.wait",
}

// Changes returns the keys in which a checked config differs from the one that a server
// runs with: those that take effect at once, and those that need a restart. An item of a
// list has the list's name and its own, such as tokens.billing.
func Changes(running, wanted *Config) (now, restart []string, err error) {
	before, err := running.keys()
	if err != nil {
		return nil, nil, err
	}
	after, err := wanted.keys()
	if err != nil {
		return nil, nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		group, _, _ := strings.Cut(key, ".")
		switch {
		case reflect.DeepEqual(before[key], after[key]):
		case slices.Contains(live, key) || slices.Contains(live, group):
			now = append(now, key)
		default:
			restart = append(restart, key)
		}
	}
	return now, restart, nil
}

// keys returns the values of a config by key. Those of stores have their URLs too, which
// are not shown.
func (c *Config) keys() (map[string]any, error) {
	text, err := yaml.Dump(c)
	if err != nil {
		return nil, err
	}
	var groups map[string]any
	if err := yaml.Load(text, &groups); err != nil {
		return nil, err
	}
	keys := map[string]any{}
	for group, value := range groups {
		switch value := value.(type) {
		case map[string]any:
			for key, v := range value {
				keys[group+"."+key] = v
			}
		case []any:
			keys[group] = value // of texts
			if items := named(group, value); len(items) > 0 {
				delete(keys, group)
				maps.Copy(keys, items)
			}
		default:
			keys[group] = value
		}
	}
	for _, store := range c.Stores {
		key := "stores." + store.Name
		keys[key] = []any{keys[key], store.text}
	}
	// The first generator that has a tag serves it.
	for i, entry := range c.Generators[:max(0, len(c.Generators)-1)] {
		key := "generators." + entry.Common().Name
		keys[key] = []any{keys[key], c.Generators[i+1].Common().Name}
	}
	return keys, nil
}

// named returns the items of a list by their names.
func named(group string, list []any) map[string]any {
	items := map[string]any{}
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			items[group+"."+fields["name"].(string)] = item // every item of a checked config has one
		}
	}
	return items
}
