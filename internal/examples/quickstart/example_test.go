// Package quickstart has no code, only README.md's program.
package quickstart

import (
	"context"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite" // needs no C compiler

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func TestMain(m *testing.M) {
	_ = os.Remove("app.db") // of a run that was killed
	status := m.Run()
	_ = os.Remove("app.db")
	os.Exit(status)
}

func Example() {
	ctx := context.Background()
	db, err := gorm.Open(sqlite.New(sqlite.Config{
		DriverName: "sqlite",
		DSN:        "file:app.db?_pragma=busy_timeout(10000)&_txlock=immediate",
	}), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}

	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("worker", gen.Worker(), "makes ids:", id > 0)
	// Output: worker 1 makes ids: true
}

// TestReadme: the Go code of README.md is that of Example.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	need.Must(t, err)
	example, err := os.ReadFile("example_test.go")
	need.Must(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of Go, want 1", len(blocks))
	}
	code := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(blocks[0][1], "\t$1")
	if !strings.Contains(string(example), "\n"+code) {
		t.Errorf("Example does not have README.md's code:\n%s", code)
	}
}
