package workerzk

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Fresh inserts queue in ZooKeeper, so that a start costs the same however many start with it.
// Each makes a node that waits, with a sequence number and for its session. It waits until the node
// before its own is gone. Then it makes its row, raises the count, and deletes its node, in one
// transaction.
//
// The transaction fails if the count has changed or the row exists. So an
// insert whose turn has not come does no harm. To make the node that waits is a write, so later
// reads need no fence.

// patience is the least time before an insert looks whether the first in the queue hangs.
const patience = 2 * time.Second

func (s *store) insertFresh(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	name := rand.Text() // finds the node that waits if no answer came
	number, done, err = s.queue(ctx, &w, name)
	if done {
		return number, true, nil
	}
	if err == nil || ctx.Err() == nil && !passes(err) {
		if s.leave(ctx, w, name) == nil {
			return number, false, err
		}
	}
	go func() { // without an answer, for as long as the session may live
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
		defer cancel()
		for s.leave(ctx, w, name) != nil && ctx.Err() == nil {
			time.Sleep(time.Second)
		}
	}()
	return number, false, err
}

// leave deletes what is left of an insert that is not done: the node that waits, and the sign
// of life of a row whose number nobody will know.
func (s *store) leave(ctx context.Context, w leasestore.Write, name string) error {
	folder := s.waiting(w.Within)
	if err := s.fence(ctx, s.path); err != nil {
		return err
	}
	names, err := s.names(ctx, folder)
	if err != nil {
		return err
	}
	for _, waits := range names {
		if strings.HasPrefix(waits, name) {
			if err := s.delete(ctx, folder+"/"+waits); err != nil {
				return err
			}
		}
	}
	n, r, err := s.row(ctx, w.Number)
	if err != nil || n == nil || r.Token != w.Token {
		return err
	}
	err = s.multi(ctx, s.number(w.Number), &zk.CheckVersionRequest{Path: s.number(w.Number), Version: n.stat.Version}, &zk.DeleteRequest{Path: s.alive(w.Number), Version: -1})
	if conflict(err) { // it is gone, or another holder has the number
		return nil
	}
	return err
}

// queue waits, and makes the row. w.Number is the number that it tried last.
func (s *store) queue(ctx context.Context, w *leasestore.Write, name string) (number int64, done bool, err error) {
	folder := s.waiting(w.Within)
	own, err := s.create(ctx, folder+"/"+name+"-", zk.FlagEphemeral|zk.FlagSequence)
	if errors.Is(err, zk.ErrNoNode) {
		if err = s.prepare(ctx, folder); err == nil {
			own, err = s.create(ctx, folder+"/"+name+"-", zk.FlagEphemeral|zk.FlagSequence)
		}
	}
	if err == nil {
		err = s.turn(ctx, folder, own)
	}
	for tries := 0; err == nil; tries++ {
		given, counts, err := s.allGiven(ctx)
		if err != nil {
			return 0, false, err
		}
		next := leasestore.NewView(0, nil, given, w.Within).Next
		for tries > 0 && next <= w.Within.To { // rows that the count does not cover, as after its loss
			if n, err := s.get(ctx, s.number(next)); err != nil {
				return 0, false, err
			} else if n == nil {
				break
			}
			next++
		}
		if next > w.Within.To {
			return next, false, nil
		}
		w.Number = next
		ops, err := s.ops(ctx, *w, nil, leaserow.Row{})
		if err != nil {
			return 0, false, err
		}
		count, err := s.raise(w.Within.From, next+1, counts[w.Within.From])
		if err != nil {
			return 0, false, err
		}
		ops = append(ops, count)
		if own != "" {
			ops = append(ops, &zk.DeleteRequest{Path: own, Version: -1})
		}
		err = s.multi(ctx, s.number(next), ops...)
		if err == nil || !conflict(err) {
			return next, err == nil, err
		}
		if errors.Is(err, zk.ErrNoNode) {
			if own == "" {
				return 0, false, err // a parent is gone
			}
			if waits, err2 := s.get(ctx, own); waits != nil || err2 != nil {
				return 0, false, cmp.Or(err2, err)
			}
			own = "" // others did not wait for this insert any longer
		}
	}
	return 0, false, err
}

// turn waits until the node before own is gone. If the first in the queue stays for long, its
// process may hang: turn deletes its node.
func (s *store) turn(ctx context.Context, folder, own string) error {
	for first := ""; ; {
		names, err := s.names(ctx, folder)
		if err != nil {
			return err
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Compare(a[max(0, len(a)-10):], b[max(0, len(b)-10):]) })
		at := slices.Index(names, own[len(folder)+1:])
		if at <= 0 {
			return nil
		}
		if names[0] == first {
			if err := s.delete(ctx, folder+"/"+first); err != nil {
				return err
			}
		}
		first = names[0]
		if gone, err := s.gone(ctx, folder+"/"+names[at-1]); gone || errors.Is(err, zk.ErrNoNode) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (s *store) gone(ctx context.Context, path string) (bool, error) {
	changed, err := do(ctx, s, "watch", path, func() (<-chan zk.Event, error) {
		_, _, changed, err := s.conn.GetW(path)
		return changed, err
	})
	if err != nil {
		return false, err
	}
	select {
	case <-changed:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(patience + mathrand.N(patience)):
		return false, nil
	}
}
