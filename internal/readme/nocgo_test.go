//go:build !cgo

package readme

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

func Example_withoutCgo() {
	db, err := gorm.Open(sqlite.New(sqlite.Config{
		DriverName: "sqlite",
		DSN:        "file:app.db?_pragma=busy_timeout(10000)&_txlock=immediate",
	}), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}
	gen, err := uid.NewCached(context.Background(), worker.NewRegistry(db), uid.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	fmt.Println("worker", gen.Worker())
	// Output: worker 1
}

// TestCodeWithoutCgo finds the second Go code of README.md in the body of the
// example.
func TestCodeWithoutCgo(t *testing.T) {
	if got, want := codeOfREADME(t)[1], bodyOf(t, "nocgo_test.go", "Example_withoutCgo"); !strings.HasPrefix(want, got) {
		t.Errorf("README.md has\n%s\n\nand the example\n%s", got, want)
	}
}
