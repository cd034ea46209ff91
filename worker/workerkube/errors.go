package workerkube

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

var (
	// ErrRights means that the user, usually a pod's service account, lacks a permission that a
	// Store needs. The error names the verb, resource and namespace, and the rule to add to the
	// Role.
	ErrRights = errors.New("workerkube: a permission is missing")

	// ErrNamespace means that the namespace does not exist, or is being deleted.
	ErrNamespace = errors.New("workerkube: the namespace does not exist, or is being deleted")

	// ErrQuota means that a ResourceQuota of the namespace allows no more objects.
	ErrQuota = errors.New("workerkube: the namespace's quota is used up")
)

func (s *store) explain(verb string, err error) error {
	failed, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return err
	}
	details, code := failed.ErrStatus.Details, failed.ErrStatus.Code
	switch {
	case apierrors.HasStatusCause(err, "NamespaceTerminating"),
		apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces":
		return fmt.Errorf("%w: %q: %w", ErrNamespace, s.namespace, err)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return fmt.Errorf("%w: %q: %w", ErrQuota, s.namespace, err)
	case apierrors.IsForbidden(err):
		return s.rights([]string{verb}, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("workerkube: the API server does not accept the credentials: %w", err)
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError,
		apierrors.IsConflict(err) && verb == "create": // a quota counts another object
		return leasestore.Transient(err)
	}
	return err
}

// conflicts reports whether a write was not done because of another one.
func conflicts(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
