// Command peers measures the generators and the server beside floors and peers, writes the
// figures into docs/benchmarks.md and a chart, and fails if a promise is missed:
//
//	go run . ids server
//
// It runs the benchmarks of this folder in rounds. Anyone can run them by go test, and
// compare two runs, or the columns of one, by benchstat:
//
//	go test -bench Next -cpu 1,2 -count 10 . >new.txt
//	go tool benchstat -col /impl new.txt
//
// They are a module of their own, so that nobody else downloads the peers.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

var (
	rounds = flag.Int("rounds", 10, "how often each benchmark runs; the spread needs 6 or more")
	length = flag.Duration("time", 200*time.Millisecond, "how long each benchmark of ids runs")
	root   = flag.String("root", "../../..", "the folder of the repository")
)

// part is a part of the page.
type part struct {
	runs   [][]string // arguments of the test binary, one run for each, in every round
	tables func(r *results, cores int) (map[string]string, error)
	judge  func(r *results, cores int) []string
}

func parts(cores int) map[string]part {
	ids := func(pattern string, cpu int) []string {
		return []string{"-test.bench", pattern, "-test.benchmem", "-test.cpu", fmt.Sprint(cpu), "-test.benchtime", length.String()}
	}
	return map[string]part{
		"ids":    {[][]string{ids("^Benchmark(Next|NextN|Wait|All)$", 1), ids("Parallel$", cores)}, (*results).idTables, (*results).judge},
		"server": {[][]string{{"-test.bench", "^Benchmark(HTTP|Redis)$", "-test.benchtime", "1x"}}, (*results).serverTables, (*results).judgeServer},
	}
}

func main() {
	flag.Parse()
	if err := run(flag.Args(), runtime.NumCPU()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(names []string, cores int) error {
	folder, err := os.MkdirTemp("", "uidring-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "peers.test")
	if err := command(os.Stdout, "go", "test", "-c", "-o", binary, "."); err != nil {
		return err
	}
	var missed []string
	for _, name := range names {
		p, found := parts(cores)[name]
		if !found {
			return fmt.Errorf("the part is %q, want ids or server", name)
		}
		var output bytes.Buffer
		for range *rounds {
			for _, args := range p.runs {
				args = append([]string{"-test.run", "^$", "-test.timeout", "10m"}, args...)
				if err := command(io.MultiWriter(&output, os.Stdout), binary, args...); err != nil {
					return err
				}
			}
		}
		r, err := read(&output)
		if err != nil {
			return err
		}
		if err := r.place(p, cores); err != nil {
			return err
		}
		missed = append(missed, p.judge(r, cores)...)
	}
	if len(missed) > 0 {
		return fmt.Errorf("FAIL:\n%s", strings.Join(missed, "\n"))
	}
	return nil
}

func command(stdout io.Writer, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	return nil
}
