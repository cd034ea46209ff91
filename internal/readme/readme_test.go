//go:build cgo

package readme

import (
	"context"
	"fmt"
	"log"
	"testing"
	"time"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

func Example() {
	db, err := gorm.Open(sqlite.Open("app.db"), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // for the start only
	defer cancel()
	gen, err := uid.NewCached(ctx, worker.NewRegistry(db), uid.Config{BoostPower: 4, PaddingFactor: 50})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	parts, err := gen.Parse(id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("worker", parts.Worker, "sequence", parts.Sequence)
	// Output: worker 1 sequence 0
}

// TestCode compares the first Go code of README.md with the body of Example.
func TestCode(t *testing.T) {
	if got, want := codeOfREADME(t)[0], bodyOf(t, "readme_test.go", "Example"); got != want {
		t.Errorf("README.md has\n%s\n\nand the example\n%s", got, want)
	}
}
