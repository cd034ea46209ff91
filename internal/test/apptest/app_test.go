// Package apptest tests which modules an app gains that links the library as a service does, and
// no SQL driver.
package apptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// allowed are the modules that an app may gain from uidring, and why.
var allowed = map[string]string{
	"github.com/uidring/uidring":     "itself",
	"gorm.io/gorm":                   "worker numbers come from a database",
	"github.com/jinzhu/inflection":   "required by GORM",
	"github.com/jinzhu/now":          "required by GORM",
	"golang.org/x/text":              "required by GORM",
	"github.com/robfig/cron/v3":      "schedules",
	"github.com/cenkalti/backoff/v5": "retries",
}

const app = `package main

import (
	_ "gorm.io/gorm"

	_ "github.com/uidring/uidring/uid"
	_ "github.com/uidring/uidring/worker"
)

func main() {}
`

// An app that links uid and worker gains the modules allowed, and no others.
func TestModulesOfApp(t *testing.T) {
	need.CI(t)
	checkout, err := filepath.Abs("../../..")
	need.Must(t, err)
	dir := t.TempDir()
	need.Must(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(app), 0o666))
	run := func(args ...string) []byte {
		t.Helper()
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		command.Stderr = t.Output()
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go %q: %v", args, err)
		}
		return out
	}
	run("mod", "init", "example.com/app")
	run("mod", "edit", "-require=github.com/uidring/uidring@v0.0.0", "-replace=github.com/uidring/uidring="+checkout)
	run("mod", "tidy")
	run("vet", ".") // it compiles

	var file struct{ Require []struct{ Path string } }
	need.Must(t, json.Unmarshal(run("mod", "edit", "-json"), &file))
	if len(file.Require) < 2 {
		t.Fatalf("the app requires %v, want uidring and GORM at least", file.Require)
	}
	for _, module := range file.Require {
		if allowed[module.Path] == "" {
			t.Errorf("an app that links uid and worker gains the module %s", module.Path)
		}
	}
}
