package uidprom_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidprom"
)

// The generators of a process are registered once, and shown where Prometheus
// scrapes it.
func ExampleNew() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	collector, err := uidprom.New(map[string]uidprom.Generator{"orders": gen})
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector); err != nil {
		fmt.Println(err)
		return
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
	// uidring_worker_number_max{generator="orders"} 4.194303e+06
}
