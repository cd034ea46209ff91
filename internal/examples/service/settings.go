package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

type config struct {
	Address  string   `env:"ADDRESS" envDefault:"127.0.0.1:8080"`
	Database string   `env:"DATABASE" envDefault:"service.db"`
	IDs      settings `envPrefix:"UID_"`
}

// settings is what an operator can set of the generator: UID_LAYOUT and so on. What is left
// out is uidring's default. [uid.CachedConfig] has more fields than an operator should know.
type settings struct {
	Layout        bits.Layout   `env:"LAYOUT"` // text, as bits.ParseLayout reads it
	BoostPower    int           `env:"BOOST_POWER"`
	PaddingFactor int           `env:"PADDING_FACTOR"`
	Schedule      string        `env:"SCHEDULE"`
	MaxBorrow     time.Duration `env:"MAX_BORROW"`
	MaxAge        time.Duration `env:"MAX_AGE"`
}

// read reads the config from the environment, as os.Environ has it. A variable that starts
// with UID_ and is no setting is an error. Ranges are checked by [uid.NewCached].
func read(environ []string) (c config, err error) {
	options := env.Options{Environment: env.ToMap(environ)}
	err = env.ParseWithOptions(&c, options)
	fields, errs := env.GetFieldParamsWithOptions(&c, options)
	for _, name := range slices.Sorted(maps.Keys(options.Environment)) {
		known := slices.ContainsFunc(fields, func(f env.FieldParams) bool { return f.Key == name })
		if strings.HasPrefix(name, "UID_") && !known {
			errs = errors.Join(errs, fmt.Errorf("unknown variable %s", name))
		}
	}
	return c, errors.Join(err, errs)
}

func (s settings) config() uid.CachedConfig {
	return uid.CachedConfig{
		Layout:        s.Layout,
		BoostPower:    s.BoostPower,
		PaddingFactor: s.PaddingFactor,
		Schedule:      s.Schedule,
		MaxBorrow:     s.MaxBorrow,
		MaxAge:        s.MaxAge,
	}
}
