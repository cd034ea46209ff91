//go:build linux

package torture

import (
	"context"
	"fmt"
	"strconv"

	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/worker"
)

// triggers copy each version of each row of the leases into a table. A row's
// versions are in order there: whoever writes one holds the row, or the whole
// file, until it has committed.
var triggers = map[string][]string{
	"sqlite": {
		`CREATE TABLE torture_history (seq INTEGER PRIMARY KEY AUTOINCREMENT, worker_id INTEGER, token TEXT,
			reserved_until INTEGER, heartbeat_at INTEGER, host TEXT, port TEXT)`,
		`CREATE TRIGGER torture_insert AFTER INSERT ON WORKER_LEASE BEGIN
			INSERT INTO torture_history (worker_id, token, reserved_until, heartbeat_at, host, port)
			VALUES (NEW.worker_id, NEW.token, NEW.reserved_until, NEW.heartbeat_at, NEW.host, NEW.port); END`,
		`CREATE TRIGGER torture_update AFTER UPDATE ON WORKER_LEASE BEGIN
			INSERT INTO torture_history (worker_id, token, reserved_until, heartbeat_at, host, port)
			VALUES (NEW.worker_id, NEW.token, NEW.reserved_until, NEW.heartbeat_at, NEW.host, NEW.port); END`,
	},
	"mariadb": {
		`CREATE TABLE torture_history (seq BIGINT PRIMARY KEY AUTO_INCREMENT, worker_id BIGINT, token VARCHAR(64),
			reserved_until BIGINT, heartbeat_at BIGINT, host VARCHAR(64), port VARCHAR(64)) ENGINE = InnoDB`,
		`CREATE TRIGGER torture_insert AFTER INSERT ON WORKER_LEASE FOR EACH ROW
			INSERT INTO torture_history (worker_id, token, reserved_until, heartbeat_at, host, port)
			VALUES (NEW.worker_id, NEW.token, NEW.reserved_until, NEW.heartbeat_at, NEW.host, NEW.port)`,
		`CREATE TRIGGER torture_update AFTER UPDATE ON WORKER_LEASE FOR EACH ROW
			INSERT INTO torture_history (worker_id, token, reserved_until, heartbeat_at, host, port)
			VALUES (NEW.worker_id, NEW.token, NEW.reserved_until, NEW.heartbeat_at, NEW.host, NEW.port)`,
	},
	"postgres": {
		`CREATE TABLE torture_history (seq BIGSERIAL PRIMARY KEY, worker_id BIGINT, token TEXT,
			reserved_until BIGINT, heartbeat_at BIGINT, host TEXT, port TEXT)`,
		`CREATE FUNCTION torture_copy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
			INSERT INTO torture_history (worker_id, token, reserved_until, heartbeat_at, host, port)
			VALUES (NEW.worker_id, NEW.token, NEW.reserved_until, NEW.heartbeat_at, NEW.host, NEW.port);
			RETURN NULL; END'`,
		`CREATE TRIGGER torture_write AFTER INSERT OR UPDATE ON worker_lease FOR EACH ROW EXECUTE FUNCTION torture_copy()`,
	},
}

// prepare creates the table of leases and what keeps its history.
func (b *backend) prepare(ctx context.Context) error {
	db, err := b.connect(ctx)
	if err != nil {
		return err
	}
	defer database.Close(db)
	if err := worker.NewLeaser(db).EnsureSchema(ctx); err != nil {
		return err
	}
	return b.statements(ctx, triggers[b.name]...)
}

// version is what a row was once.
type version struct {
	WorkerID      int64
	Token         string
	ReservedUntil int64
	HeartbeatAt   int64
	Host, Port    string
}

// history returns all versions of all rows, in the order of each row's.
func (b *backend) history(ctx context.Context) (versions []version, err error) {
	db, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer database.Close(db)
	err = db.WithContext(ctx).Raw(`SELECT worker_id, token, reserved_until, heartbeat_at, host, port
		FROM torture_history WHERE worker_id >= 0 ORDER BY seq`).Scan(&versions).Error
	return versions, err
}

// holder is who holds numbers: an attempt of a process to open a generator.
type holder struct {
	host    string
	attempt int64
}

// tenure is the time from which a holder acquired a number until somebody else
// did, and what the database had reserved for it. Instants are milliseconds since
// 1970.
type tenure struct {
	holder
	number   int64
	from     int64 // ticks that begin before it are not the holder's
	until    int64 // ticks that end after it were never reserved for the holder
	released bool
	rest     int64 // if released: where the next holder begins
	takeover bool  // the holder before had not given the number back
	used     int64 // the last tick known to have been stamped ends there; 0 is none
}

// end is the instant after which nothing may be stamped.
func (t *tenure) end() int64 {
	if t.released {
		return t.rest
	}
	return t.until
}

// tenures are found by the history, in its order. What the history says that must
// not happen is returned beside them.
func tenures(history []version) (found []*tenure, faults []string) {
	rows := map[int64]*version{}    // by number, as last seen
	current := map[int64]*tenure{}  // by number
	tokens := map[string]*version{} // all that were ever seen
	for i := range history {
		v := &history[i]
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Sprintf("number %d, written by %s/%s: ", v.WorkerID, v.Host, v.Port)+fmt.Sprintf(format, args...))
		}
		if tokens[v.Token] != nil {
			fault("token %s had been written before", v.Token)
		}
		tokens[v.Token] = v
		before, t := rows[v.WorkerID], current[v.WorkerID]
		rows[v.WorkerID] = v
		attempt, _ := strconv.ParseInt(v.Port, 10, 64)
		who := holder{v.Host, attempt}
		switch {
		case before == nil || before.HeartbeatAt == 0 || t.holder != who:
			t = &tenure{holder: who, number: v.WorkerID, until: v.ReservedUntil}
			if before != nil {
				t.from, t.takeover = before.ReservedUntil, before.HeartbeatAt != 0
			}
			if v.ReservedUntil < t.from {
				fault("acquired until %d, which was %d before", v.ReservedUntil, t.from)
			}
			current[v.WorkerID] = t
			found = append(found, t)
		case v.HeartbeatAt == 0:
			t.released, t.rest = true, v.ReservedUntil
			if t.rest < t.from || t.rest > t.until {
				fault("given back until %d, want %d to %d", t.rest, t.from, t.until)
			}
		default:
			if v.ReservedUntil < before.ReservedUntil {
				fault("extended until %d, which was %d before", v.ReservedUntil, before.ReservedUntil)
			}
			t.until = max(t.until, v.ReservedUntil)
		}
	}
	return found, faults
}
