package main

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// machine is what the figures hold for.
type machine struct {
	CPU        string
	Cores      int
	GOMAXPROCS int
	Go         string
	Platform   string
}

func thisMachine() machine {
	return machine{
		CPU:        cpuModel(),
		Cores:      runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		Go:         runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// cpuModel is found on Linux only, and not for every architecture.
func cpuModel() string {
	info, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "not known"
	}
	defer info.Close()
	for lines := bufio.NewScanner(info); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "not known"
}

// versionOf returns the version of the module that a package of the table is
// in, as linked, or nothing for what is in no module.
func versionOf(pkg string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	path, _, _ := strings.Cut(pkg, ",")
	for _, dep := range info.Deps {
		if path == dep.Path || strings.HasPrefix(path, dep.Path+"/") {
			return dep.Version
		}
	}
	return ""
}
