package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	elsewhere(t)
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("folder", "report.html")
	for _, text := range []string{"first, and longer", "second"} {
		if err := canReplace(path); err != nil {
			t.Fatal(err)
		}
		if err := replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	for _, path := range []string{"folder", "no/report.html", "folder/report.html/x", "."} {
		if err := canReplace(path); err == nil {
			t.Errorf("%s could be replaced", path)
		}
		if err := replace(path, nil); err == nil {
			t.Errorf("%s was replaced", path)
		}
	}
	if files, err := os.ReadDir("folder"); err != nil || len(files) != 1 {
		t.Errorf("%v, %v: something was left behind", files, err)
	}
}
