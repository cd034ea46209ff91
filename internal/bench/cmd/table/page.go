package main

import (
	"fmt"
	"strings"
)

// page collects Markdown.
type page struct{ strings.Builder }

func (p *page) heading(text string) { fmt.Fprintf(p, "## %s\n\n", text) }

// text writes a paragraph, or several, as they are.
func (p *page) text(format string, args ...any) {
	fmt.Fprintf(p, strings.TrimSpace(format)+"\n\n", args...)
}

func (p *page) item(format string, args ...any) {
	fmt.Fprintf(p, "- "+format+"\n", args...)
}

// row writes a row of a table.
func (p *page) row(cells ...string) {
	fmt.Fprintf(p, "| %s |\n", strings.Join(cells, " | "))
}

// header begins a table. A column whose name starts with ">" is set to the right.
func (p *page) header(cells ...string) {
	rules := make([]string, len(cells))
	for i, cell := range cells {
		rules[i] = "---"
		if strings.HasPrefix(cell, ">") {
			cells[i], rules[i] = cell[1:], "---:"
		}
	}
	p.row(cells...)
	p.row(rules...)
}

func (p *page) gap() { p.WriteByte('\n') }
