// Command table measures the implementations of package bench and prints the
// comparison as a Markdown document, with the machine, the counts and the bars.
//
// Usage, in the folder of the module:
//
//	go run ./cmd/table -o BENCHMARKS.md
//
// It measures -count rounds. A round visits every cell of every table once, for
// -time each, and the floor several times; a figure is the median of its cell's
// samples. So a minute in which the machine was busy with something else costs
// each cell one sample, not one cell all of them.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("table", flag.ContinueOnError)
	var (
		count   = flags.Int("count", 7, "rounds; each figure is a median over them")
		cell    = flags.Duration("time", 200*time.Millisecond, "how long a cell is measured in a round")
		paced   = flags.Duration("latency", time.Second, "how long a paced run lasts in a round")
		patient = flags.Duration("patience", 5*time.Minute, "how long in all to wait for a busy machine to be calm")
		output  = flags.String("o", "", "write the document to this file, not to the standard output")
		rawFile = flags.String("json", "", "write every sample to this file too")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *count < 1 || *cell < time.Millisecond || *paced < time.Millisecond {
		return errors.New("-count must be 1 or more, -time and -latency 1ms or more")
	}

	measured := &results{Machine: thisMachine(), Count: *count, Time: *cell, Paced: *paced, Calm: calm{patience: *patient}}
	measured.plan()
	err := measured.run(func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		return err
	}

	if *rawFile != "" {
		raw, err := json.MarshalIndent(measured, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(*rawFile, append(raw, '\n'), 0o644); err != nil {
			return err
		}
	}
	text := document(measured, strings.Join(append([]string{"go run ./cmd/table"}, args...), " "))
	if *output == "" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	return os.WriteFile(*output, []byte(text), 0o644)
}
