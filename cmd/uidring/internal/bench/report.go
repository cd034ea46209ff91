package bench

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/cmd/internal/measure"
)

//go:embed report.html
var reportText string

// reportPage escapes all text. Pictures have none but numbers and titles of ours.
var reportPage = template.Must(template.New("report").Parse(reportText))

func (r *result) writeReport(path string) error {
	page, err := r.page()
	if err == nil {
		err = os.WriteFile(path, page, 0o666)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// page returns the report: one file that needs nothing else.
func (r *result) page() ([]byte, error) {
	sections, most := r.sections(), r.steps()
	for i := range sections {
		if err := sections[i].draw(r.steps(), r.names()); err != nil {
			return nil, err
		}
	}
	var tiles []cell
	for _, name := range r.names() {
		n := most[len(most)-1]
		tiles = append(tiles, cell{Text: name, Note: scaled(r.perSecond(name, n), ""), Class: measure.Figure(r.samples(name, n, cost).Median())})
	}
	var b bytes.Buffer
	err := reportPage.Execute(&b, map[string]any{"R": r, "Most": most[len(most)-1], "Tiles": tiles, "Sections": sections})
	return b.Bytes(), err
}

// powerOfTen is a mark of an axis.
func powerOfTen(y float64) string {
	if y >= 1e5 {
		return humanize.SIWithDigits(y, 0, "")
	}
	return measure.Figure(y)
}
