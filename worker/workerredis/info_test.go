//go:build linux

package workerredis_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/worker/workerredis"
)

// A user who may not ask whether the server is a replica gets an error, and no data that may be old.
func TestRoleIsNotShown(t *testing.T) {
	s := start(t)
	take(t, s.client(t))
	s.Command(t, "ACL SETUSER ids on >secret "+workerredis.ACL("")+" -info")
	client := redis.NewClient(&redis.Options{Addr: s.Address(), Username: "ids", Password: "secret"})
	defer client.Close()
	if row, _, err := workerredis.NewStore(client, workerredis.Config{}).Read(t.Context(), 0, time.Hour); err == nil {
		t.Errorf("Read() = %+v, want an error", row)
	}
}
