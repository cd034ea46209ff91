//go:build linux

package encoders

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
)

// Clients of Redis read back what they wrote, and an id is the same member and the same value
// as its integer.
func TestRedis(t *testing.T) {
	type account struct {
		ID uid.ID `redis:"id"`
	}
	ctx, address := t.Context(), servertest.StartRedis(t).Address()
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	other, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, DisableCache: true})
	need.Must(t, err)
	defer other.Close()
	for _, id := range ids {
		need.Must(t, client.Set(ctx, "key", id, 0).Err())
		var read uid.ID
		need.Must(t, client.Get(ctx, "key").Scan(&read))
		if n, err := client.Get(ctx, "key").Int64(); read != id || n != int64(id) || err != nil {
			t.Errorf("Get(%d) = %d, %d, %v", id, read, n, err)
		}
		need.Must(t, client.SAdd(ctx, "set", int64(id)).Err())
		if member, err := client.SIsMember(ctx, "set", id).Result(); !member || err != nil {
			t.Errorf("SIsMember(%d) = %t, %v", id, member, err)
		}
		need.Must(t, client.HSet(ctx, "hash", account{id}).Err())
		var got account
		if err := client.HGetAll(ctx, "hash").Scan(&got); got.ID != id || err != nil {
			t.Errorf("HGetAll(%d) = %+v, %v", id, got, err)
		}
		if text, err := other.Do(ctx, other.B().Get().Key("key").Build()).ToString(); text != id.String() || err != nil {
			t.Errorf("rueidis: %s, %v", text, err)
		}
		need.Must(t, other.Do(ctx, other.B().Set().Key("key").Value(id.String()).Build()).Error())
		need.Must(t, client.Get(ctx, "key").Scan(&read))
		if read != id {
			t.Errorf("of rueidis: %d, want %d", read, id)
		}
	}
}
