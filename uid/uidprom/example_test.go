package uidprom_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/uid/uidprom"
	"github.com/uidring/uidring/worker/lease"
)

// The generators of a process are registered once, and shown where Prometheus
// scrapes it.
func ExampleNew() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	collector, err := uidprom.New(map[string]uid.Reporter{"orders": gen})
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector); err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	for range 3 {
		if _, err := gen.Next(); err != nil {
			fmt.Println(err)
			return
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "uidring_ids_issued_total") || strings.HasPrefix(lines.Text(), "uidring_worker_number") {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// uidring_ids_issued_total{generator="orders"} 3
	// uidring_worker_number{generator="orders"} 7
	// uidring_worker_number_max{generator="orders"} 65535
}

// Each store of a striped counter is shown by its tag, and so is each tag of
// segment.Tags.
func ExampleNewFunc() {
	stores := []segment.Store{new(segmenttest.Memory), new(segmenttest.Memory)}
	striped, err := segment.NewStriped(context.Background(), stores, "orders",
		segment.StripedConfig{Config: segment.Config{Create: true, Step: 500}})
	if err != nil {
		log.Fatal(err)
	}
	defer striped.Close()
	collector, err := uidprom.NewFunc(func() map[string]uid.Stats {
		all := map[string]uid.Stats{}
		for _, s := range striped.Stores() {
			all[s.Loads.Tag] = s
		}
		return all
	})
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	scrape := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(scrape.Body.String()) {
		if strings.HasPrefix(line, "uidring_ids_remaining{") {
			fmt.Print(line)
		}
	}
	// Output:
	// uidring_ids_remaining{generator="orders 1/2 x1000"} 500
	// uidring_ids_remaining{generator="orders 2/2 x1000"} 500
}
