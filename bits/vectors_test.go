package bits_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

// TestVectors reads and writes ids that uid-generator's own classes have written.
func TestVectors(t *testing.T) {
	file, err := os.ReadFile("../testdata/uid-generator.csv")
	need.Must(t, err)
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if got, want := len(lines)-1, 352; got != want {
		t.Fatalf("%d vectors, want %d", got, want)
	}
	for _, line := range lines[1:] {
		// The last column is JSON, which may contain commas and quotes.
		columns := strings.SplitN(strings.TrimSpace(line), ",", 9)
		number := func(i int) int64 {
			n, err := strconv.ParseInt(columns[i], 10, 64)
			need.Must(t, err)
			return n
		}
		epoch, err := time.Parse(time.DateOnly, columns[3])
		need.Must(t, err)
		layout := bits.Layout{
			TimeBits: uint8(number(0)), WorkerBits: uint8(number(1)), SequenceBits: uint8(number(2)),
			Epoch: epoch, Unit: time.Second,
		}
		allocator := mustAllocator(t, layout)
		tick, worker, sequence, id := number(4), number(5), number(6), number(7)
		if got, err := allocator.Compose(tick, worker, sequence); got != id || err != nil {
			t.Errorf("%s: Compose(%d, %d, %d) = %d, %v, want %d", layout, tick, worker, sequence, got, err, id)
		}
		want := bits.Parts{Time: epoch.Add(time.Duration(tick) * time.Second), Tick: tick, Worker: worker, Sequence: sequence}
		if tick > int64(1<<63-1)/int64(time.Second) {
			want.Time = time.Unix(epoch.Unix()+tick, 0).UTC()
		}
		if got, err := allocator.Parse(id); got != want || err != nil {
			t.Errorf("%s: Parse(%d) = %+v, %v, want %+v", layout, id, got, err, want)
		}
		if printed := want.Time.Format(time.DateTime); !strings.Contains(columns[8], printed) {
			t.Errorf("%s: the original prints %s, want %s in it", layout, columns[8], printed)
		}
	}
}
