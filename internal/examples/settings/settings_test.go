package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/examples/settings"
	"github.com/uidring/uidring/uid"
)

// TestForms: the same settings in two forms are the same config.
func TestForms(t *testing.T) {
	const inYAML = `
layout: 31/23/9,epoch=2020-01-01 # text, as bits.ParseLayout reads it
boost_power: 4
padding_factor: 60
schedule: "@every 1m"
max_borrow: 1h30m
max_age: 90s
`
	inEnvironment := []string{
		"PATH=/bin", "UID_LAYOUT=31/23/9,epoch=2020-01-01", "UID_BOOST_POWER=4", "UID_PADDING_FACTOR=60",
		"UID_SCHEDULE=@every 1m", "UID_MAX_BORROW=1h30m", "UID_MAX_AGE=90s",
	}
	want := settings.Settings{
		Layout: bits.Layout{
			TimeBits: 31, WorkerBits: 23, SequenceBits: 9,
			Epoch: time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC), Unit: time.Second,
		},
		BoostPower: 4, PaddingFactor: 60, Schedule: "@every 1m", MaxBorrow: "1h30m", MaxAge: "90s",
	}
	for form, read := range map[string]func() (settings.Settings, error){
		"YAML":        func() (settings.Settings, error) { return settings.Read([]byte(inYAML)) },
		"environment": func() (settings.Settings, error) { return settings.Settings{}.Override(inEnvironment) },
	} {
		if got, err := read(); got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", form, got, err, want)
		}
	}
	config, err := want.Config()
	if err != nil || config.Layout != want.Layout || config.MaxBorrow != 90*time.Minute || config.MaxAge != 90*time.Second {
		t.Errorf("Config() = %+v, %v", config, err)
	}
	gen, err := uid.NewCached(t.Context(), uid.StaticWorker(7), config)
	if err != nil {
		t.Fatal(err)
	}
	if err := gen.Close(); err != nil {
		t.Error(err)
	}
}

// The environment overrides what the file says, and no more than that.
func TestOverride(t *testing.T) {
	file := settings.Settings{Layout: bits.JSSafe(), BoostPower: 4}
	got, err := file.Override([]string{"UID_BOOST_POWER=5", "UIDS=3", "UID_MAX_AGE="})
	if want := (settings.Settings{Layout: bits.JSSafe(), BoostPower: 5}); got != want || err != nil {
		t.Errorf("Override = %+v, %v, want %+v", got, err, want)
	}
}

// TestRefused: what cannot be meant is an error that names it.
func TestRefused(t *testing.T) {
	read := func(text string) (settings.Settings, error) { return settings.Read([]byte(text)) }
	override := func(variable string) (settings.Settings, error) {
		return settings.Settings{}.Override([]string{variable})
	}
	for _, test := range []struct {
		from       func(text string) (settings.Settings, error)
		text, want string
	}{
		{read, "max_borow: 24h", `unknown field "max_borow"`},
		{read, `{"layuot": "default"}`, `unknown field "layuot"`},
		{read, "max_borrow: soon", `max_borrow is "soon", want a duration`},
		{read, `{"max_age": "24"}`, `max_age is "24", want a duration`},
		{read, "max_borrow: 24", `max_borrow is "24", want a duration`},
		{read, "boost_power: 4.5", "field Settings.boost_power of type int"},
		{read, "layout: 28/22/14", "bits: invalid layout: TimeBits + WorkerBits + SequenceBits is 28 + 22 + 14 = 64"},
		{read, "layout: baidoo", `"baidoo" is neither`},
		{read, "boost_power: 3\nboost_power: 4", `key "boost_power" already set`},
		{override, "UID_MAX_BOROW=24h", "unknown variable UID_MAX_BOROW"},
		{override, "UID_MAX_BORROW=soon", `max_borrow is "soon", want a duration`},
		{override, "UID_BOOST_POWER=many", `field "BoostPower"`},
		{override, "UID_LAYOUT=28/22/14", "28 + 22 + 14 = 64"},
	} {
		s, err := test.from(test.text)
		if err == nil {
			_, err = s.Config()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q in it", test.text, err, test.want)
		}
	}
}
