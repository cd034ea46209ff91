package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func TestSettings(t *testing.T) {
	c, err := read([]string{"PATH=/bin", "UIDS=3", "UID_LAYOUT=31/23/9", "UID_BOOST_POWER=4", "UID_PADDING_FACTOR=60",
		"UID_SCHEDULE=@every 1m", "UID_MAX_BORROW=1h30m", "UID_MAX_AGE=90s"})
	want := uid.CachedConfig{Layout: bits.LongLived(), BoostPower: 4, PaddingFactor: 60, Schedule: "@every 1m",
		MaxBorrow: 90 * time.Minute, MaxAge: 90 * time.Second}
	if got := c.IDs.config(); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	gen, err := uid.NewCached(t.Context(), uid.NewStaticWorker(7), c.IDs.config())
	if err != nil {
		t.Fatal(err)
	}
	if err := gen.Close(); err != nil {
		t.Error(err)
	}
	for variable, want := range map[string]string{
		"UID_MAX_BOROW=24h":   "unknown variable UID_MAX_BOROW",
		"UID_MAX_BORROW=soon": `field "MaxBorrow"`,
		"UID_MAX_AGE=24":      `missing unit in duration "24"`,
		"UID_BOOST_POWER=4.5": `field "BoostPower"`,
		"UID_LAYOUT=28/22/14": "28 + 22 + 14 = 64",
		"UID_LAYOUT=baidoo":   `"baidoo" is neither`,
	} {
		if _, err := read([]string{variable}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", variable, err, want)
		}
	}
}
