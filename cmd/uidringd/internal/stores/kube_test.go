//go:build linux

package stores_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/servertest"
)

func TestKube(t *testing.T) {
	k := servertest.StartKube(t)
	k.Namespace(t, "orders")
	k.Namespace(t, "elsewhere")
	file := k.Kubeconfig(t, servertest.KubeAdmin, "elsewhere")
	t.Setenv("KUBECONFIG", file)
	give(t, "kube://orders")
	give(t, "kube://orders/billing") // another prefix
	give(t, "kube://")               // the namespace of the kubeconfig
	clitest.Wants(t, k.Must(t, "GET", "/apis/coordination.k8s.io/v1/namespaces/elsewhere/leases", ""), `"uidring.0"`)
	t.Setenv("KUBECONFIG", k.Kubeconfig(t, "alice", "orders"))
	give(t, "kube://orders?kubeconfig="+file+"&context=test&timeout=1m")
	for dsn, want := range map[string]string{
		"kube://orders":                                    "a permission is missing: get of leases.coordination.k8s.io in the namespace \"orders\"",
		"kube://orders?context=none":                       `context "none" does not exist`,
		"kube://orders?kubeconfig=/none.yaml":              "/none.yaml",
		"kube://orders/a/b":                                `Prefix: "a/b"`,
		"kube://Orders_7":                                  `Namespace: "Orders_7"`,
		"kube://user:secret@orders":                        "the URL does not parse; want kube://namespace",
		"kube://orders:6443":                               "the URL does not parse; want kube://namespace",
		"kube://orders?timeout=1m&replicas=2":              `unknown option "replicas"`,
		"kube://orders/?kubeconfig=" + file + "&timeout=x": "option timeout=x",
	} {
		refused(t, dsn, want)
	}
	k.Kill()
	t.Setenv("KUBECONFIG", file)
	refused(t, "kube://orders", "connection refused")
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	os.Unsetenv("KUBERNETES_SERVICE_HOST")
	refused(t, "kube://orders", "set KUBECONFIG, make ~/.kube/config, or add ?kubeconfig=FILE")
}
