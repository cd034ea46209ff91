package config

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker/lease"
)

// CachedConfig returns the config of [uid.NewCached].
func (g *Generator) CachedConfig(logger *slog.Logger) uid.CachedConfig {
	boost := g.BoostPower
	if g.Layout == (bits.Layout{}) && g.Store != "" && boost == uid.DefaultBoostPower {
		boost = 0 // less for long ticks, which the store may remember
	}
	return uid.CachedConfig{
		Layout:        g.Layout,
		BoostPower:    boost,
		PaddingFactor: g.PaddingFactor,
		Schedule:      g.Schedule,
		MaxBorrow:     g.MaxBorrow,
		MaxAge:        g.MaxAge,
		Logger:        logger,
	}
}

// fitRing lowers a BoostPower that is the default until the ring can fill; 0 is the library's own.
func (g *Generator) fitRing() {
	wrong := func(f *invalid.Field) bool { return f.Name == "BoostPower" }
	for g.BoostPower > 0 && slices.ContainsFunc(slices.Collect(invalid.Fields(g.validate())), wrong) {
		g.BoostPower--
	}
}

// DefaultConfig returns the config of [uid.NewDefault].
func (g *Generator) DefaultConfig(logger *slog.Logger) uid.DefaultConfig {
	return uid.DefaultConfig{Layout: g.Layout, MaxBackward: g.MaxBackward, Logger: logger}
}

// SlotsConfig returns the config of [uid.NewSlots].
func (g *Generator) SlotsConfig(logger *slog.Logger) uid.SlotsConfig {
	return uid.SlotsConfig{Layout: g.Layout, Slots: g.Slots, Logger: logger}
}

// LeaseConfig returns the config of the lease of the worker number.
func (g *Generator) LeaseConfig(logger *slog.Logger) lease.Config {
	c := lease.Config{Window: g.Window, Expiry: g.Expiry, Logger: logger}
	if g.Numbers != nil {
		c.Numbers = &g.Numbers.Range
	}
	return c
}

// TagsConfig returns the config of [segment.NewTags]. Its Config is that of [segment.New] too.
func (g *Generator) TagsConfig(logger *slog.Logger) segment.TagsConfig {
	return segment.TagsConfig{
		Config: segment.Config{
			Create:      g.Create,
			Step:        g.Step,
			MinStep:     g.MinStep,
			MaxStep:     g.MaxStep,
			Ahead:       g.Ahead,
			LoadAt:      g.LoadAt,
			LoadTimeout: g.LoadTimeout,
			Limit:       g.Limit,
			Logger:      logger,
		},
		MaxTags: g.MaxTags,
		Idle:    g.Idle,
	}
}

// validate reports what the library refuses.
func (g *Generator) validate() error {
	switch g.Kind {
	case "cached":
		return g.CachedConfig(nil).Validate()
	case "default":
		return g.DefaultConfig(nil).Validate()
	case "slots":
		return g.SlotsConfig(nil).Validate()
	}
	return g.TagsConfig(nil).Validate() // of segments too
}

// library reports the fields that a config of the library refuses, under their keys below
// at, which ends in a dot.
func (d *document) library(at string, err error) {
	for field := range invalid.Fields(err) {
		name, _, _ := strings.Cut(field.Name, ".") // of Layout.Epoch
		if field.Cause != nil {
			d.fault(at+inYAML(name), "%s", cli.WithoutPrefix(field.Cause))
		} else {
			d.fault(at+inYAML(name), "is %v, want %s", field.Value, inYAML(field.Want))
		}
	}
}

// inYAML writes names of fields in a text as keys: MaxStep is max_step.
func inYAML(text string) string {
	return fieldName.ReplaceAllStringFunc(text, func(name string) string {
		return strings.ToLower(wordStart.ReplaceAllString(name, "${1}_$2"))
	})
}

var (
	fieldName = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)
	wordStart = regexp.MustCompile(`([a-z])([A-Z])`)
)
