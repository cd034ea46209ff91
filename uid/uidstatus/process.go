package uidstatus

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"time"
)

// started is when this package was initialized: moments after the process began.
var started = time.Now().UTC()

// process says which process answers. It does not change.
type process struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Version *string   `json:"version"` // of the program
	Uidring *string   `json:"uidring"` // version of this module
	Started time.Time `json:"started"`
}

func thisProcess() process {
	p := process{PID: os.Getpid(), Program: filepath.Base(os.Args[0]), Started: started}
	p.Host, _ = os.Hostname() // without one, the page shows none
	if info, ok := debug.ReadBuildInfo(); ok {
		p.built(info)
	}
	return p
}

// built adds the program's name and the versions of its build; none of a working tree.
func (p *process) built(info *debug.BuildInfo) {
	p.Program, p.Version, p.Uidring = path.Base(cmp.Or(info.Path, p.Program)), nil, nil
	for _, m := range append(info.Deps, &info.Main) {
		if m.Version == "" || m.Version == "(devel)" {
			continue
		}
		if m.Path == info.Main.Path {
			p.Version = &m.Version
		}
		if m.Path == "github.com/uidring/uidring" {
			p.Uidring = &m.Version
		}
	}
}

func (p process) describe(now time.Time) string {
	text := p.Program
	if p.Version != nil {
		text += " " + *p.Version
	}
	text += fmt.Sprintf(" on %s, process %d, running for %s", cmp.Or(p.Host, "an unnamed host"), p.PID, duration(now.Sub(p.Started)))
	if p.Uidring != nil {
		text += ", uidring " + *p.Uidring
	}
	return text
}
