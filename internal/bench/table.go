package bench

// All returns the table: the floor, ours, the peers, what is made by hand, and
// the yardstick. Their order is that of the printed table.
func All() []Impl {
	return []Impl{
		counterFloor,
		cachedNext,
		defaultNext,
		snowflakePeer,
		sonyflakePeer,
		xidPeer,
		googleV7,
		googleV4,
		gofrsV7,
		ulidPeer,
		ksuidPeer,
		objectID,
		mutexCounter,
		channelFeed,
		clockReading,
	}
}

// Batches returns those that can hand out many ids by one call, here 256.
func Batches() []Impl {
	return []Impl{cachedNextN, defaultNextN}
}

// Find returns the row of the given name, of [All].
func Find(name string) (Impl, bool) {
	for _, impl := range All() {
		if impl.Name == name {
			return impl, true
		}
	}
	return Impl{}, false
}
