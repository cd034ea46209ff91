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
	"slices"
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

// New returns the subcommand. Its database may be one of stores.
func New(stores database.Stores) *cobra.Command {
	p := &parser{stores: stores}
	cmd := &cobra.Command{
		Use:   "parse [ID...]",
		Short: "Show what is in an id: time, worker, sequence",
		Long: `parse shows the time, the worker and the sequence of ids. It reads ids from its
arguments. Without arguments, or with the argument -, it reads standard input: one id
per line, or objects as gen --json writes them. Times are in UTC.

parse needs the layout of the ids, including its epoch. It uses --layout, else the layout
in an object of gen --json, else the one that the database of --dsn or $UIDRING_DSN
remembers, else that of uidring.db in the current directory, and fleet if there is no such
file. A database that cannot be read or remembers no layout is an error. With --layout,
only --dsn has parse read a database, for the worker numbers that it has given.

If the database has changed its layout, parse finds the layout of each id by its worker
number, and says on standard error how many ids have an earlier one.

An id is doubtful if its time is more than 24 hours in the future, or on the first day of
the layout, or if the database has given no such worker number under the layout: it
probably has another layout, or comes from a counter. parse marks it, says so on standard
error, and exits with 3. An id of another layout whose time is in the past, and whose
worker number was given, is not recognized.

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
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	flags := cmd.Flags()
	cli.LayoutFlag(cmd, &p.layout, "layout of the ids", "the database's; without a database, fleet")
	database.Flag(cmd, stores)
	flags.BoolVar(&p.json, "json", false, "print one JSON object per line: id (a string, for JavaScript), time, worker, sequence, layout,\nand doubt if the id is doubtful")
	flags.BoolVar(&p.original, "uid-generator", false, "print the JSON of uid-generator's parseUID, with the time in UTC")
	flags.BoolVar(&p.vesta, "vesta", false, "read Vesta ids, which encode their layout, and print one JSON object per line:\nid, time, machine, sequence, type and method")
	p.text.Add(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "uid-generator", "vesta")
	cmd.MarkFlagsMutuallyExclusive("vesta", "layout")
	cmd.MarkFlagsMutuallyExclusive("vesta", "dsn")
	return cmd
}

type parser struct {
	stores                database.Stores
	layout                bits.Layout // that is stated
	json, original, vesta bool
	text                  format.TextFlags

	cmd     *cobra.Command
	read    func(text string) (uid.ID, error)
	out     *bufio.Writer
	named   string         // the layout of the last object
	ids     *format.Reader // nil until the first id has been read
	forms   []*format.Form // of the layouts of ids
	row     []byte         // the line being written
	begun   bool           // the header, if any, has been written
	failed  int
	assumed bool   // nobody has said which layout the ids have
	doubt   int    // ids that are doubtful
	first   uid.ID // of them
	why     string // first is
	past    []past // in the order of appearance
}

// past are the ids of a layout that the store had before a change.
type past struct {
	layout string
	ids    int
	first  uid.ID
}

func (p *parser) run(cmd *cobra.Command, args []string) error {
	form, err := p.text.Open()
	if err != nil {
		return err
	}
	p.cmd, p.read, p.out = cmd, form.Parse, bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
	if len(args) == 0 {
		args = []string{"-"}
		if cli.Terminal(cmd.InOrStdin()) {
			cli.Notify(cmd, "reading ids from the terminal, one a line; Ctrl+D ends them")
		}
	}
	if err := cli.Finish(p.out, p.arguments(args)); err != nil {
		return err
	}
	return p.end()
}

// use reads the following ids as those of layouts.
func (p *parser) use(layouts format.Layouts) error {
	ids, err := format.NewReader(layouts)
	if err != nil {
		return err
	}
	p.ids, p.forms = ids, nil
	for _, allocator := range ids.Allocators {
		p.forms = append(p.forms, p.form(allocator))
	}
	return nil
}

func (p *parser) form(ids *bits.Allocator) *format.Form {
	switch {
	case p.json:
		return format.JSON(ids)
	case p.original:
		return format.Original(ids)
	case p.vesta:
		return format.Vesta()
	}
	return format.Table(ids)
}

// stated reports whether --layout was given.
func (p *parser) stated() bool { return p.layout != (bits.Layout{}) }

// start finds the layouts of ids. The first id is there by then, so that a generator in the same pipe has recorded its
// layout and its worker number.
func (p *parser) start() error {
	switch {
	case p.ids != nil:
		return nil
	case p.vesta: // whose ids need no layout
		return p.use(format.LayoutAlone(bits.Fleet()))
	}
	layouts, err := database.FindLayout(p.cmd.Context(), p.cmd, p.stores, p.layout)
	if err != nil {
		return err
	}
	p.assumed = layouts.Store == "" && !p.stated() && !p.json // which shows the layout
	if err := p.use(layouts); err != nil {
		return &cli.UsageError{Err: err}
	}
	return nil
}

func (p *parser) arguments(args []string) error {
	for _, arg := range args {
		var err error
		if arg == "-" {
			err = p.lines(p.cmd.InOrStdin())
		} else if err = p.start(); err == nil {
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
			if fault := p.start(); fault != nil {
				return fault
			}
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
	if object.Layout != "" && object.Layout != p.named && !p.stated() && !p.vesta {
		if layout, err := bits.ParseLayout(object.Layout); err == nil && p.use(format.LayoutAlone(layout)) == nil {
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
		return p.fail(line, fmt.Errorf("%w%s", err, p.text.Hint(text)))
	}
	if id == 0 {
		return p.fail(line, fmt.Errorf("%w: 0 stands for an id that is not set", uid.ErrSyntax))
	}
	layout, doubt := 0, ""
	if !p.vesta {
		layout, doubt = p.ids.Find(int64(id))
	}
	if p.row, err = p.forms[layout].Append(p.row[:0], int64(id), doubt); err != nil {
		return p.fail(line, err)
	}
	p.count(id, layout, doubt)
	if !p.begun {
		p.begun = true
		p.row = append([]byte(p.forms[layout].Header), p.row...)
	}
	_, err = p.out.Write(p.row)
	return err
}

// count counts ids that are doubtful or have an earlier layout, by its index.
func (p *parser) count(id uid.ID, layout int, doubt string) {
	switch {
	case doubt != "":
		if p.doubt++; p.doubt == 1 {
			p.first, p.why = id, doubt
		}
	case layout > 0:
		name := p.ids.Allocators[layout].Layout().String()
		i := slices.IndexFunc(p.past, func(is past) bool { return is.layout == name })
		if i < 0 {
			i, p.past = len(p.past), append(p.past, past{layout: name, first: id})
		}
		p.past[i].ids++
	}
}

// negative explains a negative id. uid-generator makes such ids when its layout has
// ended: the tick then runs over into the sign.
func (p *parser) negative(text string) error {
	id, err := strconv.ParseInt(text, 10, 64)
	present := p.ids.Allocators[0]
	layout := present.Layout()
	if err != nil || id >= 0 || layout.Bits() < 63 {
		return nil
	}
	tick := uint64(id) >> (layout.WorkerBits + layout.SequenceBits)
	if tick > math.MaxInt64/uint64(layout.Unit) {
		return nil
	}
	made := layout.Epoch.Add(time.Duration(tick) * layout.Unit)
	return fmt.Errorf("%w: %d is negative: uid-generator continues with negative ids when its layout ends, here on %s; this one would be from %s, by worker %d",
		uid.ErrSyntax, id, layout.End().Format(time.DateOnly), made.Format(time.RFC3339), id>>layout.SequenceBits&present.MaxWorker())
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
	cli.Notify(p.cmd, "%s%s", where, cli.WithoutPrefix(fault))
	return nil
}

// end reports how many errors were not shown, and that ids are doubtful or of a layout that nobody has named.
func (p *parser) end() error {
	for _, is := range p.past {
		cli.Notify(p.cmd, "%d of the layout %s, which the database had before it changed; the first is %d", is.ids, is.layout, is.first)
	}
	switch {
	case p.doubt > 0:
		cli.Notify(p.cmd, "%d doubtful under %s, the first is %d: %s; if the ids are a segment's, they have no time; if they have another layout, add --layout",
			p.doubt, p.ids.Allocators[0].Layout(), p.first, p.why)
	case p.assumed && p.begun:
		cli.Notify(p.cmd, "read as ids of fleet, %s, since there is no database; for others, add --layout or --dsn", p.ids.Allocators[0].Layout())
	}
	if more := p.failed - maxErrors; more > 0 {
		cli.Notify(p.cmd, "%d more are not ids", more)
	}
	switch {
	case p.failed > 0:
		return cli.ErrReported
	case p.doubt > 0:
		return cli.ErrDoubtful
	}
	return nil
}
