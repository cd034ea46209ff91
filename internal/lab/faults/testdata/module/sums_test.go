package sums

import (
	"os"
	"testing"
)

func TestSum(t *testing.T) {
	if got := sum(1, 2, 3); got != 6 {
		t.Error(got)
	}
}

func TestEmpty(t *testing.T) {
	if !empty() {
		t.Error("not empty")
	}
}

func TestText(t *testing.T) {
	if text, err := os.ReadFile("text.txt"); err != nil || string(text) != "text\n" {
		t.Error(string(text), err)
	}
}

func TestAlwaysFails(t *testing.T) { t.Error("it fails") }
