package bench

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/uidring/uidring/cmd/internal/cli"
)

//go:embed report.html
var frameText string

// frame is what surrounds the text of a page in HTML.
var frame = template.Must(template.New("report").Parse(frameText))

// writeReport writes a page: Markdown if the name of the file ends in .md, else HTML.
func (p *Program) writeReport(path string, d *page) error {
	d.charts = filepath.Ext(path) != ".md"
	text, err := p.markdown(d)
	if err == nil && d.charts {
		text, err = d.html(text)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o666)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// tile is a generator in the legend, with its figures on most goroutines.
type tile struct{ Tone, Name, Rate, Cost string }

// html returns a page of one file that needs nothing else.
func (d *page) html(markdown string) (string, error) {
	var tiles []tile
	for i, name := range d.names {
		most := d.Steps[len(d.Steps)-1]
		tiles = append(tiles, tile{fmt.Sprintf("%X", i%tones), cli.Printable(name), Digits(d.Of(name, most, Rate).Median()), Digits(d.Cost(name, most).Median())})
	}
	var head, cards strings.Builder
	to, end := &head, ""
	for i, block := range strings.Split(strings.TrimSpace(markdown), "\n\n") {
		block = html.EscapeString(block)
		title, section := strings.CutPrefix(block, "## ")
		unit, chart := strings.CutPrefix(block, "![")
		switch {
		case section:
			fmt.Fprintf(&cards, "%s<section aria-labelledby=\"s%d\"><h2 id=\"s%[2]d\">%s</h2>\n", end, i, inline(title))
			to, end = &cards, "</section>\n"
		case chart:
			picture, err := d.draw(strings.TrimSuffix(unit, "]"), fmt.Sprintf("s%d", i))
			if err != nil {
				return "", err
			}
			if picture != "" {
				to.WriteString(picture + "\n<p class=\"unit\" aria-hidden=\"true\">goroutines</p>\n")
			}
		case strings.HasPrefix(block, "# "):
			fmt.Fprintf(to, "<h1>%s</h1>\n", inline(block[2:]))
		case strings.HasPrefix(block, "- "):
			fmt.Fprintf(to, "<ul><li>%s</li></ul>\n", strings.ReplaceAll(inline(block[2:]), "\n- ", "</li>\n<li>"))
		case strings.HasPrefix(block, "| "):
			to.WriteString(htmlTable(strings.Split(block, "\n")))
		default:
			fmt.Fprintf(to, "<p>%s</p>\n", inline(block))
		}
	}
	cards.WriteString(end)
	var b strings.Builder
	err := frame.Execute(&b, map[string]any{
		"Title": d.Title, "Time": d.Time, "Tiles": tiles,
		"Head": template.HTML(head.String()), "Cards": template.HTML(cards.String()),
	})
	return b.String(), err
}

// htmlTable sets a table of escaped text: its head, a rule, and rows that begin with
// their name.
func htmlTable(lines []string) string {
	var b strings.Builder
	b.WriteString("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"figures\"><table>\n<thead><tr>")
	for _, cell := range cells(lines[0]) {
		b.WriteString("<th scope=\"col\">" + inline(cell) + "</th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, line := range lines[2:] {
		b.WriteString("<tr>")
		for i, cell := range cells(line) {
			if i == 0 {
				b.WriteString("<th scope=\"row\">" + inline(cell) + "</th>")
			} else {
				b.WriteString("<td>" + inline(cell) + "</td>")
			}
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
	return b.String()
}

var (
	code = regexp.MustCompile("`([^`]+)`")
	bold = regexp.MustCompile(`\*\*(.+?)\*\*`)
)

// inline sets the marks within escaped text. A verdict has its colour.
func inline(text string) string {
	text = bold.ReplaceAllString(code.ReplaceAllString(text, "<code>$1</code>"), "<strong>$1</strong>")
	return verdicts.Replace(text)
}

var verdicts = strings.NewReplacer("<strong>"+better+"<", `<strong class="better">`+better+"<", "<strong>"+worse+"<", `<strong class="worse">`+worse+"<",
	"<strong>MISSED<", `<strong class="worse">MISSED<`)
