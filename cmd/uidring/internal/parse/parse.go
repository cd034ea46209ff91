// Package parse is the subcommand that reads ids.
package parse

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/uid"
)

// maxErrors is how many wrong ids are reported one by one.
const maxErrors = 10

// New returns the subcommand.
func New() *cobra.Command {
	var (
		layout           bits.Layout
		asJSON, original bool
		vesta            bool
		text             format.TextFlags
	)
	cmd := &cobra.Command{
		Use:   "parse [ID...]",
		Short: "Show what is in an id: time, worker, sequence",
		Long: `parse shows the time, the worker and the sequence of ids. It reads ids from its
arguments. Without arguments, or with the argument -, it reads standard input: one id
per line, or objects as gen --json writes them. Times are in UTC.

parse needs the layout of the ids, including its epoch. It uses --layout, else the layout
in an object of gen --json, else the one that the database of --dsn or $UIDRING_DSN
remembers, else that of uidring.db in the current directory, and fleet if there is no such
file. A database that cannot be read or remembers no layout is an error.

An id is doubtful if its time is more than 24 hours from now, or on the first day of the
layout, or if the database has given no such worker number: it probably has another
layout, or comes from a counter. parse says so on standard error, and exits with 3.

uid-generator's epoch is midnight on epochStr in the time zone of its JVM. If epochStr
is not set, the epoch is midnight, China time, on 2016-05-20: use
--layout baidu,epoch=2016-05-20T00:00:00+08:00.

Ids of a segment, such as those of gen --segment, come from a counter and have no
time, worker or sequence.

If input is not an id, parse reports it on standard error and continues. The exit
code is then 1.`,
		Example: `  uidring parse 896950744028951464 --layout baidu,epoch=2016-05-20T00:00:00+08:00
  uidring parse --layout 31/23/9,epoch=2020-01-01 --json < ids.txt
  uidring parse --form base32 0RP2HQ0DP0000
  uidring parse --uid-generator 5313046343901185`,
		RunE: func(cmd *cobra.Command, args []string) error {
			form, err := text.Open()
			if err != nil {
				return err
			}
			lines := format.Table
			switch {
			case asJSON:
				lines = format.JSON
			case original:
				lines = format.Original
			case vesta:
				lines = func(*bits.Allocator) *format.Form { return format.Vesta() }
			}
			found := database.Found{Layout: bits.Fleet(), Greatest: -1} // which Vesta's ids do not need
			if !vesta {
				if found, err = database.FindLayout(cmd.Context(), cmd, nil, layout); err != nil {
					return err
				}
			}
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
			p := &parser{read: form.Parse, hint: text.Hint, of: lines, out: out, errs: cmd.ErrOrStderr(), vesta: vesta, stated: layout != (bits.Layout{})}
			if err := p.use(found); err != nil {
				return &cli.UsageError{Err: err}
			}
			if len(args) == 0 {
				args = []string{"-"}
				if cli.Terminal(cmd.InOrStdin()) {
					fmt.Fprintln(cmd.ErrOrStderr(), "uidring: reading ids from the terminal, one a line; Ctrl+D ends them")
				}
			}
			if err := cli.Finish(out, p.arguments(args, cmd.InOrStdin())); err != nil {
				return err
			}
			return p.end()
		},
	}
	flags := cmd.Flags()
	database.LayoutFlag(cmd, nil, &layout, "layout of the ids")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object per line: id (a string, for JavaScript), time, worker, sequence, layout")
	flags.BoolVar(&original, "uid-generator", false, "print the JSON of uid-generator's parseUID, with the time in UTC")
	flags.BoolVar(&vesta, "vesta", false, "read Vesta ids, which encode their layout, and print one JSON object per line:\nid, time, machine, sequence, type and method")
	text.Add(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "uid-generator", "vesta")
	cmd.MarkFlagsMutuallyExclusive("vesta", "layout", "dsn")
	return cmd
}

type parser struct {
	read   func(text string) (uid.ID, error)
	hint   func(text string) string
	of     func(*bits.Allocator) *format.Form
	vesta  bool   // the ids have no layout
	stated bool   // the layout is not that of an object
	named  string // the layout of the last object
	found  database.Found
	bits   *bits.Allocator
	form   *format.Form
	out    *bufio.Writer
	errs   io.Writer
	text   []byte // of the line being written
	begun  bool   // the header, if any, has been written
	failed int
	doubt  int    // ids that are doubtful
	first  uid.ID // of them
	why    string // first is
}

// use reads the following ids as those of a layout.
func (p *parser) use(found database.Found) (err error) {
	if p.bits, err = bits.NewAllocator(found.Layout); err == nil {
		p.found, p.form = found, p.of(p.bits)
	}
	return err
}

func (p *parser) arguments(args []string, stdin io.Reader) error {
	for _, arg := range args {
		var err error
		if arg == "-" {
			err = p.lines(stdin)
		} else {
			err = p.parse(strings.TrimSpace(arg), 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) lines(in io.Reader) error {
	reader := bufio.NewReaderSize(flushing{in, p.out}, 1<<16)
	for number := 1; ; number++ {
		line, err := reader.ReadString('\n')
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // a byte order mark, which Windows writes
		}
		if text := p.idOf(strings.TrimSpace(line)); text != "" && (err == nil || errors.Is(err, io.EOF)) {
			err = cmp.Or(p.parse(text, number), err)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil { // a failure to write, which out keeps, or one to read
			return cmp.Or(p.out.Flush(), fmt.Errorf("read standard input: %w", err))
		}
	}
}

// idOf returns the id of a line that is an object of gen --json, whose layout is then in use, and any other
// line as it is.
func (p *parser) idOf(line string) string {
	var object struct{ ID, Layout string }
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &object) != nil || object.ID == "" {
		return line
	}
	if object.Layout != "" && object.Layout != p.named && !p.stated && !p.vesta {
		if layout, err := bits.ParseLayout(object.Layout); err == nil && p.use(database.Found{Layout: layout, Greatest: -1}) == nil {
			p.named = object.Layout
		}
	}
	return object.ID
}

// flushing is a reader that flushes before it waits for more, so that parse can stand
// between two programs that talk.
type flushing struct {
	io.Reader
	out *bufio.Writer
}

func (f flushing) Read(b []byte) (int, error) {
	if err := f.out.Flush(); err != nil {
		return 0, err
	}
	return f.Reader.Read(b)
}

// parse writes what is in an id, or reports that it is none. line is its number in
// standard input, from 1, or 0. The error that it returns is of writing.
func (p *parser) parse(text string, line int) error {
	id, err := p.read(text)
	if err != nil {
		if negative := p.negative(text); negative != nil {
			return p.fail(line, negative)
		}
		return p.fail(line, fmt.Errorf("%w%s", err, p.hint(text)))
	}
	if id == 0 {
		return p.fail(line, fmt.Errorf("%w: 0 stands for an id that is not set", uid.ErrSyntax))
	}
	if p.text, err = p.form.Append(p.text[:0], int64(id)); err != nil {
		return p.fail(line, err)
	}
	if why := p.doubtful(id); why != "" {
		if p.doubt++; p.doubt == 1 {
			p.first, p.why = id, why
		}
	}
	if !p.begun {
		p.begun = true
		p.text = append([]byte(p.form.Header), p.text...)
	}
	_, err = p.out.Write(p.text)
	return err
}

// doubtful says why an id is probably not of the layout, as small ids of a counter, whose time is on the layout's
// first day. It returns "" if nothing speaks against the id.
func (p *parser) doubtful(id uid.ID) string {
	parts, err := p.bits.Parse(int64(id))
	switch {
	case err != nil || p.vesta:
	case time.Until(parts.Time) > uid.DefaultMaxBorrow:
		return "its time is in the future"
	case parts.Time.Sub(p.bits.Layout().Epoch) < day && time.Since(p.bits.Layout().Epoch) > day:
		return "its time is on the first day of the layout"
	case p.found.Greatest >= 0 && parts.Worker > p.found.Greatest:
		return fmt.Sprintf("the greatest worker number that the database has given is %d", p.found.Greatest)
	}
	return ""
}

const day = 24 * time.Hour

// negative explains a negative id. uid-generator makes such ids when its layout has
// ended: the tick then runs over into the sign.
func (p *parser) negative(text string) error {
	id, err := strconv.ParseInt(text, 10, 64)
	layout := p.bits.Layout()
	if err != nil || id >= 0 || layout.Bits() < 63 {
		return nil
	}
	tick := uint64(id) >> (layout.WorkerBits + layout.SequenceBits)
	if tick > math.MaxInt64/uint64(layout.Unit) {
		return nil
	}
	made := layout.Epoch.Add(time.Duration(tick) * layout.Unit)
	return fmt.Errorf("%w: %d is negative: uid-generator continues with negative ids when its layout ends, here on %s; this one would be from %s, by worker %d",
		uid.ErrSyntax, id, layout.End().Format(time.DateOnly), made.Format(time.RFC3339), id>>layout.SequenceBits&p.bits.MaxWorker())
}

// fail reports what is wrong with an id, after the ids before it. Binary input would
// be thousands of errors: those after the first are counted.
func (p *parser) fail(line int, fault error) error {
	if p.failed++; p.failed > maxErrors {
		return nil
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	where := ""
	if line > 0 {
		where = fmt.Sprintf("line %d: ", line)
	}
	fmt.Fprintf(p.errs, "uidring: %s%s\n", where, cli.WithoutPrefix(fault))
	return nil
}

// end reports how many errors were not shown, and that ids are doubtful.
func (p *parser) end() error {
	if p.doubt > 0 {
		fmt.Fprintf(p.errs, "uidring: %d doubtful under %s, the first is %d: %s; if the ids are a segment's, they have no time; if they have another layout, add --layout\n",
			p.doubt, p.bits.Layout(), p.first, p.why)
	}
	if more := p.failed - maxErrors; more > 0 {
		fmt.Fprintf(p.errs, "uidring: %d more are not ids\n", more)
	}
	switch {
	case p.failed > 0:
		return cli.ErrReported
	case p.doubt > 0:
		return cli.ErrDoubtful
	}
	return nil
}
