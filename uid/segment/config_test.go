package segment

import (
	"log/slog"
	"math"
	"reflect"
	"testing"
	"time"
)

// The zero config is the documented default. The bounds of a config are allowed.
func TestDefaults(t *testing.T) {
	config := func(change func(c *Config)) Config {
		c := Config{
			MaxStep: 1 << 30, Ahead: 10 * time.Minute, LoadAt: 10, LoadTimeout: 5 * time.Second,
			Limit: math.MaxInt64 - 1, Logger: slog.Default(),
		}
		change(&c)
		return c
	}
	for _, test := range []struct{ given, want Config }{
		{Config{}, config(func(*Config) {})},
		{Config{Step: 7}, config(func(c *Config) { c.Step, c.MinStep = 7, 7 })},
		{Config{Step: 1 << 40}, config(func(c *Config) { c.Step, c.MinStep, c.MaxStep = 1<<40, 1<<40, 1<<40 })},
		{Config{MinStep: 5, MaxStep: 5, LoadAt: 1}, config(func(c *Config) { c.MinStep, c.MaxStep, c.LoadAt = 5, 5, 1 })},
		{Config{Step: 6, MinStep: 5, MaxStep: 6, LoadAt: 99, Limit: 1}, config(func(c *Config) { c.Step, c.MinStep, c.MaxStep, c.LoadAt, c.Limit = 6, 5, 6, 99, 1 })},
		{Config{MaxStep: 1 << 40, Ahead: 1, LoadTimeout: 1}, config(func(c *Config) { c.MaxStep, c.Ahead, c.LoadTimeout = 1<<40, 1, 1 })},
	} {
		got := test.given
		if err := got.prepare().Err(); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: %+v, %v, want %+v", test.given, got, err, test.want)
		}
	}
	var tags TagsConfig
	if err := tags.prepare().Err(); err != nil || tags.MaxTags != 10_000 || tags.Idle != time.Hour || tags.LoadAt != 10 {
		t.Errorf("%+v, %v", tags, err)
	}
	var stripes StripedConfig
	if err := stripes.prepare().Err(); err != nil || stripes.Block != 1000 || stripes.LoadAt != 10 {
		t.Errorf("%+v, %v", stripes, err)
	}
	if err := (StripedConfig{Block: 1 << 40}).Validate(); err != nil {
		t.Errorf("Validate() = %v of the greatest block", err)
	}
}
