package holding

import (
	"reflect"

	"github.com/uidring/uidring/worker/lease"
)

// Merge returns a config with each field of the last config in which the field is set, so
// that a test adds its own to what all tests have.
func Merge(configs ...lease.Config) lease.Config {
	var merged lease.Config
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
