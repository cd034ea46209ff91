package stores

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/uidring/uidring/internal/test/need"
)

// However long etcd is unavailable, whether its host refuses connections or answers nothing, the
// next attempt to connect begins within 9 seconds.
func TestEtcdIsTriedAgain(t *testing.T) {
	for name, dial := range map[string]func() (net.Conn, error){
		"refused": func() (net.Conn, error) { return nil, &net.OpError{Op: "dial"} },
		"silent": func() (net.Conn, error) {
			conn, far := net.Pipe()
			go io.Copy(io.Discard, far)
			return conn, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := make(chan time.Time, 1000)
				config := read("etcd://10.0.0.1", "2379").etcd()
				config.DialOptions = append(config.DialOptions, grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
					attempts <- time.Now()
					return dial()
				}))
				client, err := clientv3.New(config)
				need.Must(t, err)
				defer client.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				for ctx.Err() == nil { // gRPC connects while there are requests
					_, _ = client.Get(ctx, "a")
				}
				last := <-attempts
				for len(attempts) > 0 {
					at := <-attempts
					if at.Sub(last) > 9*time.Second {
						t.Errorf("%v after the attempt before", at.Sub(last))
					}
					last = at
				}
				if time.Since(last) > 9*time.Second {
					t.Errorf("no attempt for %v", time.Since(last))
				}
			})
		})
	}
}
