package workeretcd

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
)

// DialOptions returns options for clientv3.Config, with which a client recovers as soon as etcd does:
//
//   - It abandons a connection that a network dropped silently after 15 seconds. By default, it
//     keeps such a connection for minutes.
//   - It tries to connect for 5 seconds, and pauses for up to 4 seconds between attempts. By default,
//     these are 20 seconds and 2 minutes.
//   - It drops an authentication token that etcd has forgotten. etcd before 3.5.21 forgets a token when a
//     member restarts, the user's password changes, or authentication is turned off, and then
//     refuses the request for another token, because it carries the first.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			MinConnectTimeout: 5 * time.Second,
			Backoff:           backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
		}),
		grpc.WithChainUnaryInterceptor(dropToken),
	}
}

// dropToken has the client drop its token when a request for another one is refused because of it, by the only answer
// after which the client does: that etcd needs no token. The client's next request fails without a token, and the client
// then asks for one.
func dropToken(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, opts...)
	if method != "/etcdserverpb.Auth/Authenticate" {
		return err
	}
	for _, stale := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision} {
		if errors.Is(rpctypes.Error(err), stale) {
			return rpctypes.ErrGRPCAuthNotEnabled
		}
	}
	return err
}
