package worker

import (
	"context"
	"math"
	"time"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// NodeRow is one row of a Registry's table, which records the start of one generator. It
// corresponds to uid-generator's WorkerNodeEntity.
type NodeRow struct {
	ID         int64          `json:"id"`           // the worker number
	HostName   string         `json:"host_name"`    // see lease.Node
	Port       string         `json:"port"`         // see lease.Node
	PID        int            `json:"pid,omitzero"` // the process id in Port, see lease.Node.PID
	Type       lease.NodeType `json:"type"`         // in JSON, a number: 1 for a container, 2 for any other process
	LaunchDate time.Time      `json:"launch_date"`  // the day of the start by the database's clock, as midnight UTC
	Modified   time.Time      `json:"modified"`     // by the database's clock, in UTC
	Created    time.Time      `json:"created"`      // by the database's clock, in UTC
}

// nodeRecord is a NodeRow as selectRows selects it: times are numbers and text, which neither
// the driver's settings nor the session's time zone change.
type nodeRecord struct {
	ID         int64          `gorm:"column:id"`
	HostName   string         `gorm:"column:host_name"`
	Port       string         `gorm:"column:port"`
	Type       lease.NodeType `gorm:"column:type"`
	LaunchDate string         `gorm:"column:launch_date"`
	Modified   float64        `gorm:"column:modified"`
	Created    float64        `gorm:"column:created"`
}

func (r nodeRecord) node() lease.Node {
	return lease.Node{Host: r.HostName, Port: r.Port, Type: r.Type}
}

// Nodes returns up to limit rows with the highest numbers, newest first; a limit below 1 means no
// limit. A GORM plugin registered with db may send the query to a replica. If the table is
// missing, the error matches ErrNoTable. A time that cannot be read, because it is a zero date or
// the database is unsupported, is returned as the zero time.
func (r *Registry) Nodes(ctx context.Context, limit int) ([]NodeRow, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var records []nodeRecord
	if err := r.list(ctx, &records, r.selectRows()+" WHERE id > 0 ORDER BY id DESC", limit); err != nil {
		return nil, r.fail(ctx, "list", err)
	}
	rows := make([]NodeRow, len(records))
	for i, rec := range records {
		day, _ := time.Parse(time.DateOnly, rec.LaunchDate) // the zero time if it cannot be read
		rows[i] = NodeRow{
			ID:         rec.ID,
			HostName:   rec.HostName,
			Port:       rec.Port,
			PID:        rec.node().PID(),
			Type:       rec.Type,
			LaunchDate: day,
			Modified:   moment(rec.Modified),
			Created:    moment(rec.Created),
		}
	}
	return rows, nil
}

// selectRows is a query for nodeRecords.
func (r *Registry) selectRows() string {
	d := r.dialect()
	return "SELECT id AS id, host_name AS host_name, port AS port, type AS type, " +
		column(d.date, "launch_date") + ", " + column(d.Seconds, "modified") + ", " + column(d.Seconds, "created") +
		" FROM " + r.quoted()
}

// moment is the time of a number of seconds since 1970, to the microsecond. NULL and the zero
// date are read as 0.
func moment(seconds float64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
}

// rowRecord is a row, or a part of it, as statements select it. Tags name the columns,
// because the app may have changed GORM's naming.
type rowRecord struct {
	Number    int64          `gorm:"column:number"`
	Token     *string        `gorm:"column:token"`
	Reserved  int64          `gorm:"column:reserved"`
	Host      string         `gorm:"column:host"`
	Port      string         `gorm:"column:port"`
	Type      lease.NodeType `gorm:"column:type"`
	Heartbeat int64          `gorm:"column:heartbeat"`
	Created   int64          `gorm:"column:created"`
	Clock     int64          `gorm:"column:clock"`
}

func (r rowRecord) row(expiry time.Duration) leasestore.Row {
	return leasestore.Row{
		Number: r.Number, Token: *r.Token, Until: r.Reserved, State: leaserow.State(r.Heartbeat, r.Clock, expiry),
		Node:      leasestore.Node{Host: r.Host, Port: r.Port, Type: r.Type},
		Heartbeat: r.Heartbeat, Created: r.Created,
	}
}
