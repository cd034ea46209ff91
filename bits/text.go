package bits

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var presets = []struct {
	name   string
	layout func() Layout
}{
	{"fleet", Fleet},
	{"registry", Registry},
	{"long-lived", LongLived},
	{"js-safe", JSSafe},
	{"snowflake", Snowflake},
	{"baidu", Baidu},
}

// PresetNames returns the names of the presets that [ParseLayout] accepts.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// String returns the layout as text, such as 31/16/16,epoch=2026-01-01,unit=1s. [ParseLayout]
// reads this text. The epoch is written as a date if it is midnight UTC, else as an RFC 3339 timestamp.
func (l Layout) String() string {
	epoch := l.Epoch.UTC()
	form := time.RFC3339Nano
	if epoch.Equal(epoch.Truncate(24 * time.Hour)) {
		form = time.DateOnly
	}
	worker := l.WorkerParts
	if worker == "" {
		worker = strconv.Itoa(int(l.WorkerBits))
	}
	return fmt.Sprintf("%d/%s/%d,epoch=%s,unit=%s",
		l.TimeBits, worker, l.SequenceBits, epoch.Format(form), l.Unit)
}

// ParseLayout reads a layout from text. The text begins with the name of a preset (see
// [PresetNames]) or with the widths of the ticks, the worker number and the sequence number, as
// in 31/16/16. The worker number's width may be written as its parts instead (see
// Layout.WorkerParts). epoch= and unit= may follow. They default to the preset's values or,
// without a preset, to 2026-01-01 and 1s. For example:
//
//	snowflake
//	31/23/9
//	41/10/12,epoch=2020-01-01T00:00:00Z,unit=1ms
//	41/datacenter:5+machine:5/12,unit=1ms
//	baidu,epoch=2016-05-20T00:00:00+08:00
//
// An epoch is a date (midnight UTC) or an RFC 3339 timestamp. A unit is a duration that
// [time.ParseDuration] accepts. The error quotes the bad part and matches [ErrLayout].
func ParseLayout(text string) (Layout, error) {
	widths, options, more := strings.Cut(text, ",")
	layout, err := parseWidths(strings.TrimSpace(widths))
	if err != nil {
		return Layout{}, err
	}
	seen := make(map[string]bool)
	for more {
		var option string
		option, options, more = strings.Cut(options, ",")
		name, value, _ := strings.Cut(strings.TrimSpace(option), "=")
		if seen[name] {
			return Layout{}, fmt.Errorf("%w: %s is given twice in %q", ErrLayout, name, text)
		}
		seen[name] = true
		switch name {
		case "epoch":
			layout.Epoch, err = parseEpoch(value)
		case "unit":
			layout.Unit, err = time.ParseDuration(value)
			if err != nil {
				err = fmt.Errorf("%w: unit %q, want a duration such as 1s or 10ms", ErrLayout, value)
			}
		default:
			err = fmt.Errorf("%w: unknown option %q, want epoch=… or unit=…", ErrLayout, option)
		}
		if err != nil {
			return Layout{}, err
		}
	}
	if err := layout.Validate(); err != nil {
		return Layout{}, err
	}
	return layout, nil
}

func parseWidths(text string) (Layout, error) {
	for _, p := range presets {
		if p.name == text {
			return p.layout(), nil
		}
	}
	layout := Layout{Epoch: epoch2026, Unit: time.Second}
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return Layout{}, fmt.Errorf("%w: %q is neither three widths, such as 31/16/16, nor one of %s",
			ErrLayout, text, strings.Join(PresetNames(), ", "))
	}
	if strings.ContainsAny(parts[1], ":+") {
		workers, err := parseWorkerParts(parts[1])
		if err != nil {
			return Layout{}, err
		}
		layout.WorkerParts = parts[1]
		parts[1] = strconv.Itoa(bitsOf(workers))
	}
	for i, width := range []*uint8{&layout.TimeBits, &layout.WorkerBits, &layout.SequenceBits} {
		n, err := strconv.ParseUint(parts[i], 10, 8)
		if err != nil || n > TotalBits {
			return Layout{}, fmt.Errorf("%w: width %q in %q, want a number from 0 to %d", ErrLayout, parts[i], text, TotalBits)
		}
		*width = uint8(n)
	}
	return layout, nil
}

func parseEpoch(text string) (time.Time, error) {
	for _, form := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: epoch %q is neither a date, such as 2026-01-01, nor an RFC 3339 timestamp",
		ErrLayout, text)
}

// MarshalText returns the text from [Layout.String], or the error from [Layout.Validate].
func (l Layout) MarshalText() ([]byte, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads a layout as [ParseLayout] does.
func (l *Layout) UnmarshalText(text []byte) error {
	layout, err := ParseLayout(string(text))
	if err != nil {
		return err
	}
	*l = layout
	return nil
}
