package uidstatus

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/statstest"
	"github.com/uidring/uidring/uid"
)

// TestDocument holds the names and forms that others read.
func TestDocument(t *testing.T) {
	h := at(t, statstest.Reporters(statstest.Clocked()), counters())
	var got bytes.Buffer
	need.Must(t, json.Indent(&got, get(t, h, "/stats.json").Body.Bytes(), "", "  "))
	statstest.Golden(t, "testdata/stats.json", got.Bytes())
}

// A generator that has no worker number shows none.
func TestNoNumber(t *testing.T) {
	h := at(t, nil, map[string]uid.Stats{"none": statstest.Ringless(bits.Registry(), -1)})
	for target, name := range map[string]string{"/stats.json": `"worker_number":`, "/": "Worker number", "/?name=none": "Worker number"} {
		if w := get(t, h, target); w.Code != 200 || strings.Contains(w.Body.String(), name) {
			t.Errorf("%s: %d %s, want it without %s", target, w.Code, w.Body, name)
		}
	}
}

// A layout that ends in 292 billion years does not spoil the answer.
func TestFarAway(t *testing.T) {
	far := bits.Layout{TimeBits: 63, Epoch: bits.Registry().Epoch, Unit: time.Second}
	h := at(t, map[string]uid.Reporter{"far": statstest.Still(statstest.Ringless(far, 0))}, nil)
	for target, want := range map[string]string{
		"/stats.json":              `"layout_end_timestamp_seconds":922337`,
		"/":                        "after the year 9999",
		"/?id=9223372036854775807": "in more than 292 years",
	} {
		if w := get(t, h, target); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", target, w.Code, w.Body, want)
		}
	}
}
