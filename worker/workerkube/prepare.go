package workerkube

import (
	"context"
	"log/slog"

	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Prepare implements lease.Preparer. It asks the API server for the rights that a Store
// needs, so that a start fails if a later renewal would. A user who may not ask goes on.
func (s *Store) Prepare(ctx context.Context, _ *slog.Logger) error {
	if s.allowed.Load() {
		return nil
	}
	var missing []string
	for _, verb := range verbs {
		review := &authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorization.ResourceAttributes{
				Namespace: s.namespace, Verb: verb, Group: coordination.GroupName, Resource: resource,
			},
		}}
		request := s.client.Post().AbsPath("apis", authorization.GroupName, "v1", "selfsubjectaccessreviews").Body(review)
		_, err := s.do(ctx, "create", request, review)
		if apierrors.IsForbidden(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if !review.Status.Allowed {
			missing = append(missing, verb)
		}
	}
	if len(missing) > 0 {
		return s.rights(missing, nil)
	}
	s.allowed.Store(true)
	return nil
}
