package main

import (
	"bufio"
	"cmp"
	"os"
	"runtime"
	"strings"
)

// cpuModel is the processor's name, or nothing where the system does not tell.
func cpuModel() string {
	return cmp.Or(field("/proc/cpuinfo", ":", "model name"), os.Getenv("PROCESSOR_IDENTIFIER"))
}

// system is the operating system's name, or what Go calls it.
func system() string {
	return cmp.Or(strings.Trim(field("/etc/os-release", "=", "PRETTY_NAME"), `"`), runtime.GOOS)
}

// field returns the first value of a key in a file of a key and a value a line,
// or nothing.
func field(path, separator, key string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), separator)
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
