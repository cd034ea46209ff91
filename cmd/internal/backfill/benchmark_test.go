//go:build linux

package backfill_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
)

// BenchmarkBackfill compares the command, as a process that checks all that it has written, with a loop that writes the
// next numbers in the same batches. UIDRING_TEST_ROWS is the number of rows; 20,000 without it. Of a million, as in make
// stress-backfill, it fails above 1.5 times the loop or 64 MB.
func BenchmarkBackfill(b *testing.B) {
	rows := int(need.Number(b, "UIDRING_TEST_ROWS", 20_000))
	for _, kind := range dbtest.Kinds {
		b.Run("db="+kind, func(b *testing.B) {
			var loop, command time.Duration
			var memory int64
			for range b.N {
				half := func() {
					s := newShop(b, kind)
					s.insert(b, rows/2, 10*time.Second)
					loop += s.loop(b, 500)
				}
				half() // the other half follows: the machine has other work, too
				s := newShop(b, kind)
				s.start(b, "fleet")
				s.insert(b, rows, 10*time.Second)
				began := time.Now()
				cmd, out := clitest.Process(b, s.args()...), new(bytes.Buffer)
				cmd.Stdout, cmd.Stderr = out, out
				if err := cmd.Run(); err != nil || !strings.Contains(out.String(), fmt.Sprintf("and %d carry the tick", rows)) {
					b.Fatalf("%v: %s", err, out)
				}
				command += time.Since(began)
				memory = max(memory, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
				half()
			}
			ratio := float64(command) / float64(loop)
			if rows >= 1_000_000 && (ratio > 1.5 || memory > 64<<10) {
				b.Errorf("%.2f times the loop, and %d kB; want 1.5 and 64 MB at most", ratio, memory)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ratio, "×loop")
			b.ReportMetric(float64(rows*b.N)/command.Seconds(), "rows/s")
			b.ReportMetric(float64(memory)/1024, "MB")
		})
	}
}

// BenchmarkBackfillBeside is how long a service's statement takes beside the command, at once and with --rate.
func BenchmarkBackfillBeside(b *testing.B) {
	const rows = 20_000
	for _, kind := range []string{"mysql", "postgres"} {
		for _, rate := range []string{"0", "5000"} {
			b.Run("db="+kind+"/rate="+rate, func(b *testing.B) {
				s := newShop(b, kind)
				s.start(b, "fleet")
				s.insert(b, rows, 10*time.Second)
				cmd := clitest.Process(b, s.args("--rate", rate)...)
				need.Must(b, cmd.Start())
				var took []float64 // ms
				for s.number(b, "SELECT COUNT(uid) FROM orders") < rows {
					for range 20 {
						began := time.Now()
						need.Must(b, s.Exec("UPDATE orders SET changed = ?, created_at = created_at WHERE id = ?", s.oldest, 1+rand.IntN(rows)).Error)
						took = append(took, time.Since(began).Seconds()*1000)
					}
				}
				need.Must(b, cmd.Wait())
				slices.Sort(took)
				b.ReportMetric(0, "ns/op")
				for _, percent := range []int{50, 90, 99} {
					b.ReportMetric(took[len(took)*percent/100], fmt.Sprintf("p%d-ms", percent))
				}
			})
		}
	}
}

// loop writes the numbers 1, 2, 3 and so on, and returns how long it took.
func (s *shop) loop(b *testing.B, batch int) time.Duration {
	b.Helper()
	began := time.Now()
	for number, last := 0, 0; ; {
		var ids []int
		need.Must(b, s.Raw("SELECT id FROM orders WHERE uid IS NULL AND id > ? ORDER BY id LIMIT ?", last, batch).Scan(&ids).Error)
		if len(ids) == 0 {
			return time.Since(began)
		}
		var cases, keys strings.Builder
		for i, id := range ids {
			number++
			fmt.Fprintf(&cases, " WHEN %d THEN %d", id, number)
			if i > 0 {
				keys.WriteByte(',')
			}
			fmt.Fprint(&keys, id)
		}
		need.Must(b, s.Exec("UPDATE orders SET uid = CASE id"+cases.String()+" END, changed = changed, created_at = created_at WHERE id IN ("+keys.String()+") AND uid IS NULL").Error)
		last = ids[len(ids)-1]
	}
}
