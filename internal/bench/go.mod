module github.com/uidring/uidring/internal/bench

go 1.25

require (
	github.com/HdrHistogram/hdrhistogram-go v1.2.0
	github.com/bwmarrin/snowflake v0.3.0
	github.com/dustin/go-humanize v1.0.1
	github.com/gofrs/uuid/v5 v5.4.0
	github.com/google/uuid v1.6.0
	github.com/oklog/ulid/v2 v2.1.1
	github.com/rs/xid v1.6.0
	github.com/segmentio/ksuid v1.0.4
	github.com/sony/sonyflake v1.2.0
	github.com/uidring/uidring v0.0.0
	go.mongodb.org/mongo-driver/v2 v2.4.1
	golang.org/x/sys v0.37.0
)

require github.com/robfig/cron/v3 v3.0.1 // indirect

replace github.com/uidring/uidring => ../..
