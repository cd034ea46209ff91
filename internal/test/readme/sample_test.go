package readme

import (
	"context"
	"fmt"
	"log"
	"regexp"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite" // needs no C compiler

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func Example() {
	ctx := context.Background()
	db, err := gorm.Open(sqlite.New(sqlite.Config{
		DriverName: "sqlite",
		DSN:        "file:app.db?_pragma=busy_timeout(10000)&_txlock=immediate",
	}), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}

	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{Layout: bits.Fleet()})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("worker", gen.Worker(), "makes ids:", id > 0)
	// Output: worker 0 makes ids: true
}

// TestReadme: the Go code of README.md is that of Example.
func TestReadme(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of Go, want 1", len(blocks))
	}
	code := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(blocks[0][1], "\t$1")
	if !strings.Contains(read(t, "internal/test/readme/sample_test.go"), "\n"+code) {
		t.Errorf("Example does not have README.md's code:\n%s", code)
	}
}
