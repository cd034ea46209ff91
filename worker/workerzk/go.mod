module github.com/uidring/uidring/worker/workerzk

go 1.26.0

require github.com/uidring/uidring v0.0.0

require github.com/robfig/cron/v3 v3.0.1 // indirect

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/go-zookeeper/zk v1.0.4
)

replace github.com/uidring/uidring => ../..
