package uidotel

import "github.com/uidring/uidring/uid/segment"

// layoutInfo is the only instrument whose attributes include the layout.
const layoutInfo = "uidring.layout.info"

// counts lists the instruments of integers, in the order of the package comment.
var counts = []instrument[int64]{
	{"uidring.id.issued", "{id}", "Ids issued.", counter,
		func(r *reading) (int64, bool) { return r.issued, true }},
	{"uidring.id.remaining", "{id}", "Ids ready in memory.", updown, remaining},
	{"uidring.id.dropped", "{id}", "Ids dropped: too old, of a lost number, or left at Close.", counter, dropped},
	{"uidring.id.returned", "{id}", "Ids that Close gave back to the store.", counter,
		ofSegment(func(r *reading) int64 { return r.segment.Returned })},
	{"uidring.call.rejected", "{call}", "Calls for ids that failed.", counter,
		func(r *reading) (int64, bool) { return r.rejected, true }},
	{"uidring.call.starved", "{call}", "Calls that found no id ready.", counter, starved},
	{"uidring.generator.closed", "{generator}", "1 once the generator is closed.", updown,
		func(r *reading) (int64, bool) { return flag(r.closed), true }},

	{"uidring.ring.threshold", "{id}", "The ring is filled again when it holds fewer ids.", updown,
		ofRing(func(r *reading) int64 { return r.clocked.Threshold })},
	{"uidring.ring.capacity", "{id}", "Ids in a full ring.", updown,
		ofRing(func(r *reading) int64 { return r.clocked.Capacity })},
	{"uidring.ring.refill", "{refill}", "Times that the ring was filled ahead of demand.", counter,
		ofRing(func(r *reading) int64 { return r.clocked.Refills })},
	{"uidring.ring.help", "{tick}", "Ticks put by calls that found the ring empty.", counter,
		ofRing(func(r *reading) int64 { return r.clocked.Helps })},
	{"uidring.ring.rejected_put", "{tick}", "Ticks whose ids were dropped; see Config.RejectedPut.", counter,
		ofRing(func(r *reading) int64 { return r.clocked.RejectedPuts })},
	{"uidring.ring.failing", "{generator}", "1 while the ring cannot be filled; 0 while it only waits for the clock or for reserved time.", updown,
		ofRing(func(r *reading) int64 { return flag(r.clocked.Failing()) })},

	{"uidring.worker.number", "{number}", "Worker number under which ids are stamped.", gauge,
		ofClocked(func(r *reading) int64 { return r.clocked.Worker })},
	{"uidring.worker.max_number", "{number}", "Largest worker number that the layout can hold.", gauge,
		func(r *reading) (int64, bool) {
			if r.layout == nil {
				return 0, false
			}
			return r.layout.MaxWorker(), true
		}},
	{"uidring.worker.change", "{change}", "Times that a leased worker number was lost and another taken.", counter,
		ofClocked(func(r *reading) int64 { return r.clocked.WorkerChanges })},
	{"uidring.lease.failing", "{generator}", "1 while the lease of the worker number is not renewed.", updown,
		ofClocked(func(r *reading) int64 { return flag(r.clocked.LeaseError != nil) })},
	{layoutInfo, "{generator}", "1, with the layout of the ids as the attribute uidring.layout.", updown,
		func(r *reading) (int64, bool) { return 1, r.layout != nil }},

	{"uidring.segment.range", "{id}", "Ids of the range in use.", updown,
		ofSegment(func(r *reading) int64 { return r.segment.InUse.End - r.segment.InUse.First })},
	{"uidring.segment.step", "{id}", "Ids of the range that was loaded last.", updown,
		ofSegment(func(r *reading) int64 { return r.segment.Step })},
	{"uidring.segment.next_ready", "{range}", "1 while the range after the one in use is loaded.", updown,
		ofSegment(func(r *reading) int64 { return flag(r.segment.Next != segment.Range{}) })},
	{"uidring.segment.load", "{request}", "Requests to the store for a range.", counter,
		ofSegment(func(r *reading) int64 { return r.segment.Loads })},
	{"uidring.segment.load_failure", "{request}", "Requests to the store for a range that failed.", counter,
		ofSegment(func(r *reading) int64 { return r.segment.Failures })},
	{"uidring.segment.failing", "{generator}", "1 while no range can be loaded.", updown,
		ofSegment(func(r *reading) int64 { return flag(r.segment.LastError != nil) })},

	{"uidring.client.step", "{id}", "Ids of the server's last answer.", updown,
		ofClient(func(r *reading) int64 { return r.client.Step })},
	{"uidring.client.fetch", "{response}", "Answers of servers with ids.", counter,
		ofClient(func(r *reading) int64 { return r.client.Fetches })},
	{"uidring.client.fetch_failure", "{request}", "Requests to servers that failed.", counter,
		ofClient(func(r *reading) int64 { return r.client.Failures })},
	{"uidring.client.instance_change", "{change}", "Changes of the instance that answers.", counter,
		ofClient(func(r *reading) int64 { return r.client.Orders })},
	{"uidring.client.failing", "{generator}", "1 while no ids can be fetched.", updown,
		ofClient(func(r *reading) int64 { return flag(r.client.LastError != nil) })},
}

// seconds lists the instruments of times, in the order of the package comment.
var seconds = []instrument[float64]{
	{"uidring.call.wait_time", "s", "Time that calls waited for an id, added up.", counter,
		func(r *reading) (float64, bool) { return r.waited.Seconds(), true }},
	{"uidring.ring.span", "s", "Time that the ids of a full ring cover.", gauge,
		func(r *reading) (float64, bool) {
			if !r.hasRing() || r.layout == nil {
				return 0, false
			}
			return r.fullRing(), true
		}},
	{"uidring.ring.age", "s", "By how much the time of the next id is behind the clock; negative if ahead.", gauge,
		ofRing(func(r *reading) float64 { return r.clocked.OldestAge.Seconds() })},
	{"uidring.ring.age_limit", "s", "Limit of how far behind the clock ids are issued; absent without a limit.", gauge,
		func(r *reading) (float64, bool) {
			if !r.hasRing() || r.clocked.MaxAge < 0 {
				return 0, false
			}
			return r.clocked.MaxAge.Seconds(), true
		}},
	{"uidring.ring.borrowed", "s", "By how much the last tick put is ahead of the clock.", gauge,
		ofRing(func(r *reading) float64 { return r.clocked.Borrowed.Seconds() })},
	{"uidring.ring.borrow_limit", "s", "Limit of how far ahead of the clock ids are stamped; absent without a limit.", gauge,
		func(r *reading) (float64, bool) {
			if !r.hasRing() || r.clocked.MaxBorrow < 0 {
				return 0, false
			}
			return r.clocked.MaxBorrow.Seconds(), true
		}},
	{"uidring.lease.reserved_until", "s", "End of the time reserved under the worker number, since 1970; absent without an end.", gauge,
		func(r *reading) (float64, bool) {
			if r.clocked == nil || r.clocked.ReservedUntil.IsZero() {
				return 0, false
			}
			return timestamp(r.clocked.ReservedUntil), true
		}},
	{"uidring.layout.end", "s", "First instant that the layout cannot stamp, since 1970.", gauge,
		func(r *reading) (float64, bool) {
			if r.clocked == nil || r.clocked.LayoutEnd.IsZero() {
				return 0, false
			}
			return timestamp(r.clocked.LayoutEnd), true
		}},
	{"uidring.segment.load_duration", "s", "Time that the last request to the store took.", gauge,
		ofSegment(func(r *reading) float64 { return r.segment.LoadTime.Seconds() })},
	{"uidring.segment.loading_time", "s", "How long the request under way has taken; 0 without one.", gauge,
		ofSegment(func(r *reading) float64 { return r.segment.Loading.Seconds() })},
	{"uidring.client.fetch_duration", "s", "Time that the last answer took.", gauge,
		ofClient(func(r *reading) float64 { return r.client.FetchTime.Seconds() })},
}

func remaining(r *reading) (int64, bool) {
	switch {
	case r.segment != nil:
		return r.segment.Remaining, true
	case r.client != nil:
		return r.client.Remaining, true
	}
	return r.clocked.Remaining, r.hasRing()
}

func dropped(r *reading) (int64, bool) {
	switch {
	case r.segment != nil:
		return 0, false
	case r.client != nil:
		return r.client.Dropped, true
	}
	return r.clocked.Dropped, r.hasRing()
}

func starved(r *reading) (int64, bool) {
	switch {
	case r.segment != nil:
		return r.segment.Starved, true
	case r.client != nil:
		return r.client.Starved, true
	}
	return 0, false
}

// only has read called for the readings that have what it reads.
func only[N int64 | float64](has func(*reading) bool, read func(*reading) N) func(*reading) (N, bool) {
	return func(r *reading) (value N, ok bool) {
		if !has(r) {
			return 0, false
		}
		return read(r), true
	}
}

func ofClocked[N int64 | float64](read func(*reading) N) func(*reading) (N, bool) {
	return only(func(r *reading) bool { return r.clocked != nil }, read)
}

func ofRing[N int64 | float64](read func(*reading) N) func(*reading) (N, bool) {
	return only((*reading).hasRing, read)
}

func ofSegment[N int64 | float64](read func(*reading) N) func(*reading) (N, bool) {
	return only(func(r *reading) bool { return r.segment != nil }, read)
}

func ofClient[N int64 | float64](read func(*reading) N) func(*reading) (N, bool) {
	return only(func(r *reading) bool { return r.client != nil }, read)
}
