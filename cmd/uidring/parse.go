package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func newParse() *cobra.Command {
	var (
		layout         bits.Layout
		epoch          time.Time
		json, original bool
	)
	cmd := &cobra.Command{
		Use:   "parse [ID...]",
		Short: "Read ids: when, by which worker, and as which of its ids they were made",
		Long: `parse takes ids apart, given as arguments or, without any, as lines of standard
input. Times are in UTC.

It needs the layout that the ids were made with, epoch included, and cannot tell
a wrong one. uid-generator takes midnight of its JVM's time zone for the
epoch, and of China where epochStr is not set: for ids of such a service, add
--epoch 2016-05-20T00:00:00+08:00.

What is no id is reported on standard error; the others are read all the same, and
the exit code is 1.`,
		Example: `  uidring parse 896950744028951464 --layout baidu
  uidring parse --layout 31/23/9 --epoch 2020-01-01 --json < ids.txt
  uidring parse --layout baidu --uid-generator 896950744028951464`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("epoch") {
				layout.Epoch = epoch
			}
			allocator, err := bits.NewAllocator(layout)
			if err != nil {
				return &usageError{err}
			}
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
			p := &parser{out: out, errs: cmd.ErrOrStderr()}
			switch {
			case json:
				p.form = jsonForm(allocator)
			case original:
				p.form = originalForm(allocator)
			default:
				p.form = tableForm(allocator)
			}
			if len(args) > 0 {
				err = p.arguments(args)
			} else {
				err = p.lines(cmd.InOrStdin())
			}
			if err := finish(out, err); err != nil {
				return err
			}
			if p.failed {
				return errReported
			}
			return nil
		},
	}
	cmd.SetFlagErrorFunc(negativeMeans("ids are not negative"))
	flags := cmd.Flags()
	layoutFlag(cmd, &layout, "layout that the ids were made with")
	flags.Func("epoch", "`date` or RFC 3339 time at which the layout's first tick begins, in place of its own", func(text string) (err error) {
		epoch, err = bits.ParseEpoch(text)
		return err
	})
	flags.BoolVar(&json, "json", false, "print objects with id (a string, for JavaScript's sake), time, worker and\nsequence, one a line")
	flags.BoolVar(&original, "uid-generator", false, "print the JSON that parseUID of uid-generator returns, with the time in UTC")
	cmd.MarkFlagsMutuallyExclusive("json", "uid-generator")
	complete(cmd, "epoch")
	return cmd
}

// parser reads ids and writes what is in them.
type parser struct {
	form   *form
	out    *bufio.Writer
	errs   io.Writer
	text   []byte // of the line being written
	begun  bool   // the header, if any, has been written
	failed bool
}

func (p *parser) arguments(args []string) error {
	for _, arg := range args {
		if err := p.parse(bytes.TrimSpace([]byte(arg)), 0); err != nil {
			return err
		}
	}
	return nil
}

// lines reads ids, one a line. It waits for more only when what it has read is
// written, so that it can stand between two programs that talk.
func (p *parser) lines(in io.Reader) error {
	reader := bufio.NewReaderSize(in, 1<<16)
	for number := 1; ; number++ {
		if ready, _ := reader.Peek(reader.Buffered()); bytes.IndexByte(ready, '\n') < 0 {
			if err := p.out.Flush(); err != nil {
				return err
			}
		}
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = p.fail(number, fmt.Errorf("%w: it starts with %q and is longer than %d bytes", uid.ErrSyntax, line[:32], len(line)))
			if err != nil {
				return err
			}
			line, err = nil, skipLine(reader)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read standard input: %w", err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := p.parse(text, number); err != nil {
				return err
			}
		}
		if err != nil {
			return nil // the end
		}
	}
}

// skipLine reads to the end of the line.
func skipLine(reader *bufio.Reader) error {
	for {
		if _, err := reader.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// parse writes what is in an id, or reports that it is none. line is where it
// stands in standard input, from 1, or 0. The error that it returns is of writing.
func (p *parser) parse(text []byte, line int) error {
	id, err := uid.ParseID(string(text))
	if err == nil {
		p.text, err = p.form.append(p.text[:0], int64(id))
	}
	if err != nil {
		return p.fail(line, err)
	}
	if !p.begun {
		p.begun = true
		p.text = append([]byte(p.form.header), p.text...)
	}
	_, err = p.out.Write(p.text)
	return err
}

// fail reports what is wrong with an id, after the ids before it.
func (p *parser) fail(line int, fault error) error {
	p.failed = true
	if err := p.out.Flush(); err != nil {
		return err
	}
	where := ""
	if line > 0 {
		where = fmt.Sprintf("line %d: ", line)
	}
	fmt.Fprintf(p.errs, "uidring: %s%s\n", where, oneLine(fault.Error()))
	return nil
}
