package workerkube

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/uidring/uidring/worker/lease"
)

var (
	// ErrRights is matched when the user, usually a pod's service account, may not do what
	// a Store does. The error names verb, resource and namespace, and a Role's rule.
	ErrRights = errors.New("workerkube: a right is missing")

	// ErrNamespace is matched when the namespace does not exist, or is being deleted.
	ErrNamespace = errors.New("workerkube: the namespace does not exist, or is being deleted")

	// ErrQuota is matched when a ResourceQuota of the namespace allows no more objects.
	ErrQuota = errors.New("workerkube: the namespace's quota is used up")
)

// rule is the least rule of a Role for a Store.
const rule = "{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, create, update]}"

// verbs are those of rule.
var verbs = []string{"get", "list", "create", "update"}

// rights is the error for verbs that are not allowed. cause is the API server's, or nil.
func (s *Store) rights(missing []string, cause error) error {
	err := fmt.Errorf("%w: %s of %s.coordination.k8s.io in the namespace %q; want a Role there with the rule %s, and a RoleBinding to the user",
		ErrRights, strings.Join(missing, ", "), resource, s.namespace, rule)
	if cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// explain says what an error of the API server means for a Store.
func (s *Store) explain(verb string, err error) error {
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
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		return lease.Transient(err)
	}
	return err
}

// conflicts reports whether a write was not done because of another one.
func conflicts(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
