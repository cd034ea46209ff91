module github.com/uidring/uidring/uid/segment/segmentredis

go 1.26.0

require (
	github.com/redis/go-redis/v9 v9.23.0
	github.com/uidring/uidring v0.0.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/uidring/uidring => ../../..
