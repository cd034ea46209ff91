package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/caarlos0/env/v11"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
	"github.com/uidring/uidring/uid/uidtest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// TestService starts the service, has many clients order at once, stops it while
// they do, and finds the number given back and every order that was taken.
func TestService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.db")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	for name, value := range map[string]string{"ADDRESS": "127.0.0.1:0", "DATABASE": file, "UID_LAYOUT": "long-lived", "UID_MAX_BORROW": "1h"} {
		t.Setenv(name, value)
	}
	c, err := env.ParseAs[config]()
	need.Must(t, err)
	go func() {
		ended <- run(ctx, c, slog.New(slog.DiscardHandler), func(a net.Addr) { ready <- a })
	}()
	base := ""
	select {
	case a := <-ready:
		base = "http://" + a.String()
	case err := <-ended:
		t.Fatal(err)
	}

	for path, want := range map[string]string{
		"/healthz":              "4096 ids ready\nworker 0, layout until 2094-01-19",
		"/debug/uid/stats.json": `"layout_info":"31/23/9,epoch=2026-01-01,unit=1s"`,
	} {
		response, err := http.Get(base + path)
		need.Must(t, err)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s %s, %v, want %q in it", path, response.Status, body, err, want)
		}
	}
	if state := leaseOf(t, file); state != lease.StateHeld {
		t.Errorf("while it runs the number is %s, want it held", state)
	}

	const clients, each = 4, 25
	var mu sync.Mutex
	taken := map[uid.ID]bool{}
	var clientsDone sync.WaitGroup
	for client := range clients {
		clientsDone.Go(func() {
			for i := range each {
				if client == 0 && i == each/2 {
					stop() // the others are in the middle of something
				}
				response, err := http.PostForm(base+"/orders", url.Values{"buyer": {fmt.Sprint(client)}})
				if err != nil {
					return // stopped
				}
				var order Order
				err = json.NewDecoder(response.Body).Decode(&order)
				response.Body.Close()
				if err != nil || response.StatusCode != http.StatusCreated {
					t.Errorf("status %d, %v", response.StatusCode, err)
					return
				}
				mu.Lock()
				if taken[order.ID] || order.ID == 0 {
					t.Errorf("id %d came twice, or is none", order.ID)
				}
				taken[order.ID] = true
				mu.Unlock()
			}
		})
	}
	clientsDone.Wait()
	if err := <-ended; err != nil {
		t.Errorf("the service ended with %v", err)
	}
	if state := leaseOf(t, file); state != lease.StateFree {
		t.Errorf("afterwards the number is %s, want it free", state)
	}
	var orders []Order
	if err := open(t, file).Find(&orders).Error; err != nil || len(orders) < len(taken) || len(taken) < each/2 {
		t.Errorf("%d orders in the table, %d answered, error %v", len(orders), len(taken), err)
	}
	for _, order := range orders {
		delete(taken, order.ID)
	}
	if len(taken) > 0 {
		t.Errorf("orders %v were answered and are not in the table", taken)
	}
}

// TestDocument compares whole answers: the ids of uidtest are known before. A generator
// without ids takes no order.
func TestDocument(t *testing.T) {
	db, gen := open(t, filepath.Join(t.TempDir(), "service.db")), uidtest.NewSequence(t, 1000)
	if err := errors.Join(db.Use(uidgorm.New(gen, uidgorm.Config{})), db.AutoMigrate(&Order{})); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(routes(db, gen, http.NotFoundHandler()))
	defer server.Close()
	for i, want := range []string{`{"id":"1000","buyer":"Ada"}`, `{"id":"1001","buyer":"Ada"}`, "the order was not taken"} {
		if i == 2 {
			gen.Fail(uid.ErrReservation)
		}
		response, err := http.PostForm(server.URL+"/orders", url.Values{"buyer": {"Ada"}})
		need.Must(t, err)
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if got := strings.TrimSpace(string(body)); got != want {
			t.Errorf("answer %d is %s, want %s", i, got, want)
		}
		health, err := http.Get(server.URL + "/healthz")
		need.Must(t, err)
		health.Body.Close()
		if failing := health.StatusCode == http.StatusServiceUnavailable; failing != (i == 2) {
			t.Errorf("after answer %d the health check says %s", i, health.Status)
		}
	}
}

func open(t *testing.T, file string) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(sqlite.New(sqlite.Config{
		DriverName: "sqlite", DSN: "file:" + file + "?_pragma=busy_timeout(10000)",
	}), &gorm.Config{})
	need.Must(t, err)
	t.Cleanup(func() {
		if pool, err := db.DB(); err == nil {
			pool.Close()
		}
	})
	return db
}

// leaseOf returns the state of the only number that was ever leased.
func leaseOf(t *testing.T, file string) lease.State {
	t.Helper()
	rows, err := worker.NewLeaser(open(t, file), lease.Config{}).Leases(t.Context(), 0)
	if err != nil || len(rows) != 1 {
		t.Fatalf("leases %v, %v, want one", rows, err)
	}
	return rows[0].State
}
