package uidstatus

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/statstest"
)

// drawn are the attributes that pictures and the script are made from.
var drawn = regexp.MustCompile(`(data-(issued|state|refills|millis)|stroke-dasharray|part" width|transform)="[^"]*"`)

// TestPageText holds what the page says, every label with its value, and draws.
func TestPageText(t *testing.T) {
	h := at(t, statstest.Reporters(statstest.Clocked()), counters())
	var got bytes.Buffer
	for _, target := range []string{"/", "/?name=orders&id=5313046343901185", "/?name=sessions", "/?name=troubled&id=x", "/?name=lost", "/?name=invoices", "/?name=remote"} {
		body := get(t, h, target).Body.String()
		fmt.Fprintf(&got, "== %s\n%s\n%s\n", target, words(body), strings.Join(drawn.FindAllString(body, -1), "\n"))
	}
	statstest.Golden(t, "testdata/page.txt", got.Bytes())
}

// words returns the texts of a page, one figure a line.
func words(page string) string {
	_, page, _ = strings.Cut(page, "<body>")
	page = strings.ReplaceAll(page, "\n", " ")
	page = regexp.MustCompile(`</(h\d|p|div|li|tr|dt|dd|ul|dl|title|figure|svg|text)>`).ReplaceAllString(page, "$0\n")
	page = strings.NewReplacer("</dt>\n", ": ", "</dd>\n<dd class=\"why\">", " | ", "</dd>\n<dd class=\"meter\">", " [bar]").Replace(page)
	page = regexp.MustCompile(`</t[hd]>`).ReplaceAllString(page, " | ")
	page = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, ""))
	var lines []string
	for line := range strings.SplitSeq(page, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestThisProcess(t *testing.T) {
	p := thisProcess()
	host, _ := os.Hostname()
	if p.Host != host || p.PID != os.Getpid() || p.Program == "" || time.Since(p.Started) > time.Hour {
		t.Errorf("%+v, want this host and process", p)
	}
	p.built(&debug.BuildInfo{
		Path: "example.com/shop/cmd/shop",
		Main: debug.Module{Path: "example.com/shop", Version: "v1.2.3"},
		Deps: []*debug.Module{{Path: "example.com/other", Version: "v9.0.0"}, {Path: "github.com/uidring/uidring", Version: "v0.4.0"}, {Path: "gorm.io/gorm", Version: "v1.0.0"}},
	})
	if p.Program != "shop" || *p.Version != "v1.2.3" || *p.Uidring != "v0.4.0" {
		t.Errorf("%s %s with uidring %s, want shop v1.2.3 with v0.4.0", p.Program, *p.Version, *p.Uidring)
	}
	p.built(&debug.BuildInfo{Main: debug.Module{Path: "github.com/uidring/uidring", Version: "(devel)"}})
	if p.Program != "shop" || p.Version != nil || p.Uidring != nil {
		t.Errorf("%+v, want no version of a working tree", p)
	}
	text := process{Program: "shop", PID: 1, Started: noon}.describe(noon.Add(time.Minute))
	if want := "shop on an unnamed host, process 1, running for 1m"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
