package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// results are the samples of a run, by the name of the benchmark and the unit, in the order of
// the rounds.
type results struct {
	cpu     string
	samples map[string][]float64
}

// read reads what benchmarks print. The names in results are those of go test, with the number
// of processors, which go test leaves out if it is 1.
func read(output io.Reader) (*results, error) {
	r := &results{samples: map[string][]float64{}}
	reader := benchfmt.NewReader(output, "output")
	for reader.Scan() {
		switch line := reader.Result().(type) {
		case *benchfmt.Result:
			r.cpu = line.GetConfig("cpu")
			name := line.Name.String()
			if last := name[strings.LastIndexByte(name, '-')+1:]; strings.Trim(last, "0123456789") != "" || last == name {
				name += "-1"
			}
			for _, v := range line.Values {
				value := v.Value
				if v.Unit == "sec/op" {
					value *= 1e9 / ids(name)
				}
				r.samples[name+" "+v.Unit] = append(r.samples[name+" "+v.Unit], value)
			}
		case *benchfmt.SyntaxError:
			return nil, line
		}
	}
	return r, reader.Err()
}

// ids returns how many ids an operation yields: n of the benchmark's name.
func ids(name string) float64 {
	for part := range strings.SplitSeq(name, "/") {
		if n, err := strconv.ParseFloat(strings.TrimPrefix(part, "n="), 64); err == nil {
			return n
		}
	}
	return 1
}

// summary returns the median and its confidence interval.
func (r *results) summary(benchmark, unit string) (benchmath.Summary, error) {
	return summarise(r.samples[benchmark+" "+unit], benchmark)
}

// ratio returns the summary of the ratios of each round, so that a machine that is slow for
// some rounds disturbs both alike.
func (r *results) ratio(benchmark, base, unit string) (benchmath.Summary, error) {
	over, under := r.samples[benchmark+" "+unit], r.samples[base+" "+unit]
	if len(over) != len(under) {
		return benchmath.Summary{}, fmt.Errorf("%s has %d samples, %s %d", benchmark, len(over), base, len(under))
	}
	ratios := make([]float64, len(over))
	for i := range over {
		ratios[i] = over[i] / under[i]
	}
	return summarise(ratios, benchmark)
}

func summarise(samples []float64, benchmark string) (benchmath.Summary, error) {
	if len(samples) == 0 {
		return benchmath.Summary{}, fmt.Errorf("%s did not run: is a program missing?", benchmark)
	}
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(samples, &benchmath.DefaultThresholds), 0.95), nil
}

// cell prints a summary as benchstat does.
func cell(s benchmath.Summary) string {
	text := fmt.Sprintf("%.3g", s.Center)
	if s.Center >= 1000 {
		text = fmt.Sprintf("%.0f", s.Center)
	}
	if spread := strings.TrimSpace(s.PctRangeString()); strings.HasSuffix(spread, "%") {
		text += " ±" + strings.TrimPrefix(spread, "±")
	}
	return text
}
