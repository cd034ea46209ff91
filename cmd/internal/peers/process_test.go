package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// process is a server that a benchmark has started.
type process struct {
	http, redis string // addresses; empty without one
	cmd         *exec.Cmd
}

func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // which says that it was killed
}

// The configs of uidringd. The generators have room for all that a benchmark draws: no
// layout's rate is measured.
const (
	counterConfig = `generators: [{name: orders, kind: segment, store: db, create: true}]
stores: [{name: db, url: "sqlite:%s"}]
shutdown: {delay: 0s}
`
	cachedConfig = `generators: [{name: ids, kind: cached, layout: 31/1/31, worker: static:1}]
shutdown: {delay: 0s}
`
)

// running are the processes that start has started; TestMain stops them.
var running []*process

// made is the folder that folder has made; empty without one.
var made string

// folder has the binary and the files of a run.
var folder = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "uidring-bench-"); err != nil {
		return "", err
	}
	made = dir
	text, err := exec.Command("go", "build", "-o", dir, "github.com/uidring/uidring/cmd/uidringd").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return dir, nil
})

// startUidringd starts a server on free ports, by a command such as taskset if there is one.
func startUidringd(config string, before ...string) (*process, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	if strings.Contains(config, "%s") {
		config = fmt.Sprintf(config, filepath.Join(dir, "counters.db"))
	}
	file, err := os.CreateTemp(dir, "*.yaml")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.WriteString(config); err != nil {
		return nil, err
	}
	return start(append(before, filepath.Join(dir, "uidringd"), "--config", file.Name(), "--listen", "127.0.0.1:0", "--redis", "127.0.0.1:0"))
}

// start runs a server, and reads its addresses from its first lines.
func start(command []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	running = append(running, p)
	lines := bufio.NewScanner(out)
	ready := func() bool { return p.http != "" && (p.redis != "" || !slices.Contains(command, "--redis")) }
	for !ready() && lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "http://"); found {
			p.http = strings.TrimSuffix(address, "/")
		}
		if _, address, found := strings.Cut(lines.Text(), "the Redis protocol at "); found {
			p.redis, _, _ = strings.Cut(address, ": ")
		}
	}
	if !ready() {
		return nil, fmt.Errorf("%s does not say where it serves", command)
	}
	go io.Copy(io.Discard, out)
	return p, nil
}
