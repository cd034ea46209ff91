package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// startup measures the time from the command's start to its first id. The SQLite file
// exists, as from the second start on.
type startup struct{ binary string }

// startName and startTook are the figure.
const startName, startTook = "uidring gen", "ms"

// newStartup builds the command into dir as users do, and runs it to make the file.
func newStartup(ctx context.Context, dir string) (s startup, err error) {
	if s.binary, err = build(dir, "uidring"); err == nil {
		_, err = s.first(ctx)
	}
	return s, err
}

// Sample implements bench.Task. The first run wakes up the disk: its first sync after
// a rest can take longer than all that the command does.
func (s startup) Sample(ctx context.Context) ([]bench.Figure, error) {
	if _, err := s.first(ctx); err != nil {
		return nil, err
	}
	took, err := s.first(ctx)
	return []bench.Figure{bench.Of(startName, bench.Setting{}, startTook, float64(took)/float64(time.Millisecond))}, err
}

// first returns how long the command takes to its first id.
func (s startup) first(ctx context.Context) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, s.binary, "gen")
	cmd.Dir = filepath.Dir(s.binary)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took := time.Since(began)
	if _, wrong := strconv.ParseInt(strings.TrimSpace(line), 10, 64); wrong != nil {
		err = errors.Join(err, fmt.Errorf("%s says %q, want an id", cmd, line))
	}
	return took, errors.Join(err, cmd.Wait())
}

// mostStartup is the promise, in milliseconds.
const mostStartup = 15

func (p *page) startBar() bench.Bar {
	took := p.of(startName, startTook)
	return bench.Bar{
		What:     "`uidring gen`, from its start to its first id",
		Want:     fmt.Sprintf("≤ %d ms", mostStartup),
		Measured: took.String() + " ms",
		Pass:     took.Median() <= mostStartup, // false of NaN
	}
}
