package holdertest

import "reflect"

// Merge returns a config with each field of the last config in which the field is set.
func Merge[Config any](configs ...Config) (merged Config) {
	to := reflect.ValueOf(&merged).Elem()
	for _, config := range configs {
		from := reflect.ValueOf(config)
		for i := range to.NumField() {
			if field := from.Field(i); !field.IsZero() {
				to.Field(i).Set(field)
			}
		}
	}
	return merged
}
