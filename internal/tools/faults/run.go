package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// run checks a list of faults.
type run struct {
	repository, scratch string // folders; the run changes files of both
	faults              []*fault
	flags               string            // GOFLAGS of whoever runs it
	woven               map[string]string // the overlay with the faults that are built in at once
	places              chan struct{}     // one for each process that may run: three a core, since tests wait too

	mu                    sync.Mutex // guards the rest, and the state of faults
	out                   io.Writer
	caught, missed, stale int
}

// check reports each fault, and whether all are caught.
func (r *run) check(ctx context.Context) (bool, error) {
	flags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err != nil {
		return false, err
	}
	r.flags = strings.TrimSpace(string(flags))
	r.places = make(chan struct{}, 3*runtime.GOMAXPROCS(0))
	for _, f := range r.faults {
		if why := f.apply(r.repository); why != "" {
			r.end(f, &r.stale, "STALE   %s (%s)", f, why)
		}
	}
	if err := r.weave(ctx); err != nil {
		return false, err
	}
	packages := make(map[string][]*fault)
	for _, f := range r.faults {
		for _, t := range f.targets {
			if !f.ended {
				packages[t.folder] = append(packages[t.folder], f)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for name, faults := range packages {
		running.Go(func() {
			if err := r.test(ctx, name, faults); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	fmt.Fprintf(r.out, "%d caught, %d missed, %d stale\n", r.caught, r.missed, r.stale)
	return r.missed == 0 && r.stale == 0 && r.caught > 0, nil
}

// end reports a fault, once.
func (r *run) end(f *fault, count *int, format string, args ...any) {
	if !f.ended {
		f.ended = true
		*count++
		fmt.Fprintf(r.out, format+"\n", args...)
	}
}

// inFault matches what the compiler says of a fault.
var inFault = regexp.MustCompile(`fault(\d+)\.go:.*`)

// weave makes the overlay of all faults that can be built in at once. Those that do not
// compile are stale.
func (r *run) weave(ctx context.Context) error {
	for {
		files := make(map[string][]*fault)
		for _, f := range r.faults {
			if !f.ended && strings.HasSuffix(f.file, ".go") {
				files[f.file] = append(files[f.file], f)
			}
			f.alone = true // unless weave changes it
		}
		r.woven = make(map[string]string)
		folders := make(map[string]bool)
		for name, faults := range files {
			text, err := os.ReadFile(filepath.Join(r.repository, name))
			if err != nil {
				return err
			}
			if text, err = weave(text, faults); err != nil {
				return err
			}
			s, err := read(text)
			if err != nil {
				return fmt.Errorf("%s with faults: %w", name, err)
			}
			folder := filepath.Dir(name)
			folders[folder] = true
			number := "package " + s.file.Name.Name + "\n\nimport \"os\"\n\nvar uidringFault = os.Getenv(\"UIDRING_FAULT\")\n"
			more := filepath.Join(folder, "uidring_fault.go")
			if err := errors.Join(r.replace(r.woven, name, text), r.replace(r.woven, more, []byte(number))); err != nil {
				return err
			}
		}
		if len(files) == 0 {
			return nil
		}
		args := []string{"build", "-o", os.DevNull}
		for folder := range folders {
			args = append(args, "./"+folder)
		}
		said, failed, err := r.command(ctx, "", r.woven, "", "go", args...)
		if err != nil || !failed {
			return err
		}
		some := false
		for _, match := range inFault.FindAllStringSubmatch(said, -1) {
			for _, f := range r.faults {
				if f.number == match[1] {
					some = true
					r.end(f, &r.stale, "STALE   %s (it does not compile: %s)", f, match[0])
				}
			}
		}
		if !some {
			return fmt.Errorf("the code with faults does not compile: %s", said)
		}
	}
}

// replace makes a file of the overlay.
func (r *run) replace(overlay map[string]string, name string, text []byte) (err error) {
	overlay[filepath.Join(r.repository, name)], err = r.make("*.go", text)
	return err
}

// make makes a scratch file, and returns its name.
func (r *run) make(pattern string, text []byte) (string, error) {
	made, err := os.CreateTemp(r.scratch, pattern)
	if err != nil {
		return "", err
	}
	_, err = made.Write(text)
	return made.Name(), errors.Join(err, made.Close())
}

// command runs a program in a folder of the repository, in one of the places. All go
// commands that it or its children run see the overlay.
func (r *run) command(ctx context.Context, folder string, overlay map[string]string, number, program string, args ...string) (said string, failed bool, err error) {
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", false, err
	}
	file, err := r.make("*.json", text)
	if err != nil {
		return "", false, err
	}
	r.places <- struct{}{}
	defer func() { <-r.places }()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(r.repository, folder)
	cmd.Env = append(os.Environ(), "UIDRING_FAULT="+number, "GOFLAGS="+strings.TrimSpace(r.flags+" -overlay="+file))
	cmd.WaitDelay = 10 * time.Second // for what a test leaves behind
	end := group(cmd)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	end()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		return "", false, cmp.Or(ctx.Err(), err)
	}
	return output.String(), !cmd.ProcessState.Success(), nil
}
