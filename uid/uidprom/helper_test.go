package uidprom

import (
	"bytes"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/statstest"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func calm() uid.Reporter { return statstest.Still(statstest.Calm()) }

// several are generators of every kind.
func several() map[string]uid.Reporter {
	return statstest.Reporters(statstest.Clocked(), statstest.Counters())
}

// read returns a file.
func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	need.Must(t, err)
	return text
}

// gather registers the generators and reads them as a scrape does, in a registry
// that looks closely.
func gather(t testing.TB, generators map[string]uid.Reporter) []*dto.MetricFamily {
	t.Helper()
	c, err := New(generators)
	need.Must(t, err)
	registry := prometheus.NewPedanticRegistry()
	need.Must(t, registry.Register(c))
	families, err := registry.Gather()
	need.Must(t, err)
	return families
}

// text returns families in the text format.
func text(t testing.TB, families []*dto.MetricFamily) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&b, family)
		need.Must(t, err)
	}
	return b.Bytes()
}
