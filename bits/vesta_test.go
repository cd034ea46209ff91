package bits_test

import (
	"math"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

func TestParseVesta(t *testing.T) {
	china := time.FixedZone("", 8*60*60)
	at := time.Date(2017, time.March, 4, 5, 6, 7, 0, china)
	epoch := time.Date(2015, time.January, 1, 0, 0, 0, 0, china)
	seconds, millis := int64(at.Sub(epoch).Seconds()), at.Sub(epoch).Milliseconds()+89
	parts := func(at time.Time, tick, machine, sequence int64) bits.Parts {
		return bits.Parts{Time: at.UTC(), Tick: tick, Worker: machine, Sequence: sequence}
	}
	for _, test := range []struct {
		id   int64
		want bits.VestaParts
	}{
		{0, bits.VestaParts{Parts: parts(epoch, 0, 0, 0)}},
		{2<<60 | seconds<<30 | 1_048_575<<10 | 1, bits.VestaParts{Parts: parts(at, seconds, 1, 1_048_575), Method: 2}},
		{1<<62 | 1<<60 | millis<<20 | 5<<10 | 1023,
			bits.VestaParts{Parts: parts(at.Add(89*time.Millisecond), millis, 1023, 5), Type: 1, Method: 1}},
		{1<<62 - 1, bits.VestaParts{Parts: parts(epoch.Add((1<<30-1)*time.Second), 1<<30-1, 1023, 1<<20-1), Method: 3}},
		{math.MaxInt64, bits.VestaParts{Parts: parts(epoch.Add((1<<40-1)*time.Millisecond), 1<<40-1, 1023, 1023), Type: 1, Method: 3}},
	} {
		if got, err := bits.ParseVesta(test.id); got != test.want || err != nil {
			t.Errorf("ParseVesta(%d) = %+v, %v, want %+v", test.id, got, err, test.want)
		}
	}
	_, err := bits.ParseVesta(-1)
	need.Error(t, err, bits.ErrForeign)
}
