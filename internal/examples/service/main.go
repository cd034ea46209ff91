// Command service is an example of a whole service: ids from a cached generator
// under a leased number, keys that GORM fills, a health check and the status
// page. Its shutdown finishes open requests and gives the number back.
//
// It is configured by the environment: see config.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/caarlos0/env/v11"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite" // SQLite without a C compiler

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
	"github.com/uidring/uidring/uid/uidstatus"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Order is a row. Its key is made by the generator, since it is a uid.ID.
type Order struct {
	ID    uid.ID `json:"id"`
	Buyer string `json:"buyer"`
}

// config is what an operator can set. What is left out is uidring's default.
type config struct {
	Address   string        `env:"ADDRESS" envDefault:"127.0.0.1:8080"`
	Database  string        `env:"DATABASE" envDefault:"service.db"` // the file of an SQLite database
	Layout    bits.Layout   `env:"UID_LAYOUT"`                       // text, as bits.ParseLayout reads it
	MaxBorrow time.Duration `env:"UID_MAX_BORROW"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	c, err := env.ParseAs[config]()
	if err == nil {
		err = run(ctx, c, logger, func(net.Addr) {})
	}
	if err != nil {
		logger.Error("service failed", "error", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, and calls ready when it can be reached. What is
// deferred runs in reverse: the server has stopped when the generator is closed,
// and the generator when the database is.
func run(ctx context.Context, c config, logger *slog.Logger, ready func(net.Addr)) (err error) {
	db, err := gorm.Open(sqlite.New(sqlite.Config{
		DriverName: "sqlite",
		DSN:        "file:" + c.Database + "?_pragma=busy_timeout(10000)&_txlock=immediate",
	}), &gorm.Config{})
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()

	starting, cancel := context.WithTimeout(ctx, 2*time.Minute) // for the start only
	defer cancel()
	gen, err := uid.NewCached(starting, worker.NewLeaser(db, lease.Config{Logger: logger}),
		uid.CachedConfig{Layout: c.Layout, MaxBorrow: c.MaxBorrow, Logger: logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close()) }() // gives the number back
	if err := errors.Join(db.Use(uidgorm.New(gen, uidgorm.Config{})), db.AutoMigrate(&Order{})); err != nil {
		return err
	}

	status, err := uidstatus.New(map[string]uidstatus.Reporter{"orders": gen}, uidstatus.Config{})
	if err != nil {
		return err
	}

	listener, err := net.Listen("tcp", c.Address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(db, gen, status), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	logger.Info("serving", "address", listener.Addr().String(), "worker", gen.Worker())
	ready(listener.Addr())

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		logger.Info("stopping")
		finishing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return server.Shutdown(finishing)
	}
}

func routes(db *gorm.DB, gen uidstatus.Reporter, status http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		order := Order{Buyer: r.FormValue("buyer")}
		if err := db.WithContext(r.Context()).Create(&order).Error; err != nil {
			http.Error(w, "the order was not taken", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(order) // whoever has gone gets no answer
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		s := gen.Stats()
		if s.Failing() || s.Closed {
			http.Error(w, fmt.Sprint("no ids: ", s.LastError), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "%d ids ready\n", s.Remaining)
		if c := s.Clock; c != nil {
			fmt.Fprintf(w, "worker %d, layout until %s\n", c.Worker, c.LayoutEnd.Format(time.DateOnly))
			if c.LeaseError != nil {
				fmt.Fprintf(w, "warning: %v\n", c.LeaseError)
			}
		}
	})
	// For operators only: put it behind the service's own authentication.
	mux.Handle("/debug/uid/", status)
	return mux
}
