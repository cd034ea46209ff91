// Package settings is an example of how an app keeps the configuration of its
// generator in a file of JSON or YAML and in environment variables.
//
// [uid.CachedConfig] has fields of functions and no tags. So the app has a struct of
// its own, with the settings that it offers, under names of its own. Durations
// are text, such as 24h: a bare number would not say of what.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"sigs.k8s.io/yaml"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Settings is what an operator can set. What is left out is uidring's default.
type Settings struct {
	Layout        bits.Layout `json:"layout" env:"LAYOUT"` // text, as bits.ParseLayout reads it
	BoostPower    int         `json:"boost_power" env:"BOOST_POWER"`
	PaddingFactor int         `json:"padding_factor" env:"PADDING_FACTOR"`
	Schedule      string      `json:"schedule" env:"SCHEDULE"`
	MaxBorrow     string      `json:"max_borrow" env:"MAX_BORROW"` // a duration, as text
	MaxAge        string      `json:"max_age" env:"MAX_AGE"`       // a duration, as text
}

// Read reads settings from YAML, of which JSON is a part. An unknown field and
// one that is there twice are errors.
func Read(text []byte) (Settings, error) {
	var s Settings
	if err := yaml.UnmarshalStrict(text, &s); err != nil {
		return Settings{}, fmt.Errorf("settings: %w", err)
	}
	return s, nil
}

const prefix = "UID_"

// Override returns the settings with those of the environment, as os.Environ has
// it, in place of its own: UID_LAYOUT for layout, and so on. A variable that
// starts with UID_ and is no setting is an error.
func (s Settings) Override(environ []string) (Settings, error) {
	options := env.Options{Prefix: prefix, Environment: env.ToMap(environ)}
	err := env.ParseWithOptions(&s, options)
	fields, errs := env.GetFieldParamsWithOptions(&s, options)
	for _, name := range slices.Sorted(maps.Keys(options.Environment)) {
		known := slices.ContainsFunc(fields, func(f env.FieldParams) bool { return f.Key == name })
		if strings.HasPrefix(name, prefix) && !known {
			errs = errors.Join(errs, fmt.Errorf("unknown variable %s", name))
		}
	}
	if err := errors.Join(err, errs); err != nil {
		return Settings{}, fmt.Errorf("settings: %w", err)
	}
	return s, nil
}

// Config returns what the generators of package uid take. An error names the
// setting. Ranges are checked by [uid.NewCached], which names the field.
func (s Settings) Config() (uid.CachedConfig, error) {
	maxBorrow, err := duration("max_borrow", s.MaxBorrow)
	maxAge, err2 := duration("max_age", s.MaxAge)
	return uid.CachedConfig{
		Layout:        s.Layout,
		BoostPower:    s.BoostPower,
		PaddingFactor: s.PaddingFactor,
		Schedule:      s.Schedule,
		MaxBorrow:     maxBorrow,
		MaxAge:        maxAge,
	}, errors.Join(err, err2)
}

func duration(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("settings: %s is %q, want a duration such as 24h or 90s", name, text)
	}
	return d, nil
}
