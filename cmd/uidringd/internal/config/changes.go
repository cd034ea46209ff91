package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
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
func Changes(running, wanted *Config) (now, restart []string) {
	before, after := running.keys(), wanted.keys()
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
	return now, restart
}

// keys returns the values of a config by key. Those of stores have their URLs too, which
// are not shown.
func (c *Config) keys() map[string]any {
	keys := map[string]any{}
	for group, f := range fields(reflect.TypeFor[Config]()) {
		v := reflect.ValueOf(c).Elem().FieldByIndex(f.Index)
		if v.Kind() == reflect.Pointer && v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
			keys[group] = v.Interface()
			continue
		}
		for key, f := range fields(v.Type()) {
			keys[group+"."+key] = v.FieldByIndex(f.Index).Interface()
		}
	}
	for _, list := range []string{"stores", "generators", "tokens"} {
		delete(keys, list)
	}
	for _, store := range c.Stores {
		keys["stores."+store.Name] = store
	}
	for _, token := range c.Tokens {
		keys["tokens."+token.Name] = token
	}
	next := "" // the first generator that has a tag serves it
	for _, entry := range slices.Backward(c.Generators) {
		name := entry.Common().Name
		keys["generators."+name] = []any{entry, next}
		next = name
	}
	return keys
}
