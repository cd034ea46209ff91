package sums

import (
	"os"
	"testing"
)

func TestSum(t *testing.T) {
	if got := sum(0, 1, 2, 3); got != 6 || least > 5 {
		t.Error(got)
	}
}

func TestAtStart(t *testing.T) {
	if atStart != 3 {
		t.Error(atStart)
	}
}

func TestEmpty(t *testing.T) {
	if !(list[int]{}).Empty(1, 2, 3) {
		t.Error("not empty")
	}
}

func TestText(t *testing.T) {
	if text, err := os.ReadFile("text.txt"); err != nil || string(text) != "text\n" {
		t.Error(string(text), err)
	}
}

func TestForgotten(*testing.T) { forgotten() }

func TestAlwaysFails(t *testing.T) { t.Error("it fails") }
