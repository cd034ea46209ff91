package workerkube

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// Rule is the only rule that the Role of a store from [NewStore] needs.
const Rule = "{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, create, update]}"

var verbs = []string{"get", "list", "create", "update"}

// rights is the error for missing verbs. cause is the API server's, or nil.
func (s *store) rights(missing []string, cause error) error {
	err := fmt.Errorf("%w: %s of %s.coordination.k8s.io in the namespace %q; want a Role there with the rule %s, and a RoleBinding to the user",
		ErrRights, strings.Join(missing, ", "), resource, s.namespace, Rule)
	if cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// Prepare asks the API server whether the user has the permissions that a Store needs, so that a
// missing permission makes startup fail, not a later renewal. If the user is not allowed to ask,
// Prepare succeeds.
func (s *store) Prepare(ctx context.Context, _ *slog.Logger) error {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.allowed.Load() {
		return nil
	}
	if err := s.limit.pay(ctx, 1); err != nil {
		return err
	}
	all := &authorization.SelfSubjectRulesReview{Spec: authorization.SelfSubjectRulesReviewSpec{Namespace: s.namespace}}
	err := s.review(ctx, "selfsubjectrulesreviews", all)
	var missing []string
	for _, verb := range verbs {
		if err != nil || allows(all.Status.ResourceRules, verb) {
			continue
		}
		if all.Status.Incomplete { // the API server cannot list what one of its authorizers allows
			one := &authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorization.ResourceAttributes{Namespace: s.namespace, Verb: verb, Group: coordination.GroupName, Resource: resource},
			}}
			if err = s.review(ctx, "selfsubjectaccessreviews", one); err != nil || one.Status.Allowed {
				continue
			}
		}
		missing = append(missing, verb)
	}
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return err
	case len(missing) > 0:
		return s.rights(missing, nil)
	}
	s.allowed.Store(true)
	return nil
}

func (s *store) review(ctx context.Context, kind string, review runtime.Object) error {
	_, err := s.do(ctx, "create", s.client.Post().AbsPath("apis", authorization.GroupName, "v1", kind).Body(review), review)
	return err
}

func allows(rules []authorization.ResourceRule, verb string) bool {
	has := func(texts []string, text string) bool {
		return slices.Contains(texts, text) || slices.Contains(texts, "*")
	}
	return slices.ContainsFunc(rules, func(r authorization.ResourceRule) bool {
		return has(r.Verbs, verb) && has(r.APIGroups, coordination.GroupName) && has(r.Resources, resource) && len(r.ResourceNames) == 0
	})
}
