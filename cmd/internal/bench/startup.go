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

	"github.com/uidring/uidring/cmd/internal/measure"
)

// startup measures the time from the command's start to its first id. The SQLite file
// exists, as from the second start on.
type startup struct {
	binary string
	Took   measure.Series // milliseconds
}

// build builds the command into dir as users do, and runs it to make the file.
func (s *startup) build(ctx context.Context, dir string) (err error) {
	if s.binary, err = build(dir, "uidring"); err == nil {
		_, err = s.first(ctx)
	}
	return err
}

// Sample implements measure.Task. The first run wakes up the disk: its first sync after
// a rest can take longer than all that the command does.
func (s *startup) Sample(ctx context.Context) (keep func(), err error) {
	if _, err := s.first(ctx); err != nil {
		return nil, err
	}
	took, err := s.first(ctx)
	return func() { s.Took = append(s.Took, float64(took)/float64(time.Millisecond)) }, err
}

// first returns how long the command takes to its first id.
func (s *startup) first(ctx context.Context) (time.Duration, error) {
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

func (s *startup) bar() bar {
	return bar{
		What:     "`uidring gen`, from its start to its first id",
		Want:     fmt.Sprintf("≤ %d ms", mostStartup),
		Measured: s.Took.String() + " ms",
		Pass:     s.Took.Median() <= mostStartup, // false of NaN
	}
}
