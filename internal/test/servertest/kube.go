//go:build linux

package servertest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
)

// here is the folder of the test's package, also of a test that leaves it.
var here, _ = os.Getwd()

// KubeAPIServer is the path of a kube-apiserver: what UIDRING_TEST_KUBE names, or what
// .ci/kubeserver has built.
var KubeAPIServer = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("UIDRING_TEST_KUBE"); path != "" {
		return exec.LookPath(path)
	}
	folder := here
	for folder != filepath.Dir(folder) && !isFile(filepath.Join(folder, ".ci/kubeserver")) {
		folder = filepath.Dir(folder)
	}
	path, err := exec.Command(filepath.Join(folder, ".ci/kubeserver"), "--find").Output()
	if err != nil {
		return "", fmt.Errorf("UIDRING_TEST_KUBE is not set, and .ci/kubeserver has built none: %w", err)
	}
	return strings.TrimSpace(string(path)), nil
})

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// KubeAdmin is a user who may do everything.
const KubeAdmin = "admin"

// KubeProgram prepares an API server with its files in dir, on an etcd. Without a kube-apiserver, it
// skips the test.
func KubeProgram(t testing.TB, dir, etcd string) Program {
	t.Helper()
	server, err := KubeAPIServer()
	if err != nil {
		need.Skip(t, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	need.Must(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	need.Must(t, err)
	// alice and bob may do nothing until a test gives them rights.
	tokens := KubeAdmin + ",admin,admin,system:masters\nalice,alice,alice\nbob,bob,bob\n"
	accounts, users := filepath.Join(dir, "accounts.pem"), filepath.Join(dir, "tokens.csv")
	need.Must(t, os.WriteFile(accounts, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600))
	need.Must(t, os.WriteFile(users, []byte(tokens), 0o600))
	return Program{func(port string) *exec.Cmd {
		return exec.Command(server, "--etcd-servers="+etcd, "--secure-port="+port, "--bind-address=127.0.0.1", "--cert-dir="+filepath.Join(dir, "certs"),
			"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none", "--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file="+accounts, "--service-account-signing-key-file="+accounts, "--token-auth-file="+users,
			"--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--profiling=false")
	}, nil, syscall.SIGKILL, kubeReady}
}

// Kube is a running Kubernetes API server with its own etcd.
type Kube struct {
	*Member
	Etcd *Member
	dir  string
}

// StartKube starts an API server on a new directory. Without kube-apiserver or etcd, it skips the
// test.
func StartKube(t testing.TB) *Kube {
	t.Helper()
	k := LaunchKube(t, t.TempDir())
	t.Cleanup(func() { k.Kill(); k.Etcd.Kill() })
	return k
}

// LaunchKube is StartKube for a server of several tests, with its files in dir. The caller
// kills the server and its Etcd.
func LaunchKube(t testing.TB, dir string) *Kube {
	t.Helper()
	addresses := Addresses(t, 2)
	etcd := EtcdPrograms(t, dir, 1)[0].At(addresses[0])
	k := &Kube{KubeProgram(t, dir, etcd.Endpoint).At(addresses[1]), etcd, dir}
	need.Must(t, etcd.Launch(context.Background()))
	need.Must(t, k.Launch(context.Background()))
	return k
}

// URL is where the API server serves.
func (k *Kube) URL() string { return "https://" + k.Address }

// CA is a file with the authority that signed the API server's certificate.
func (k *Kube) CA() string { return KubeCA(k.dir) }

// KubeCA is CA of a KubeProgram in dir.
func KubeCA(dir string) string { return filepath.Join(dir, "certs", "apiserver.crt") }

// Kubeconfig writes a file for clients that are a user of a namespace. A user's token is
// the user's name.
func (k *Kube) Kubeconfig(t testing.TB, user, namespace string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	need.Must(t, os.WriteFile(file, []byte(Kubeconfig(k.URL(), k.CA(), user, namespace)), 0o600))
	return file
}

// Kubeconfig is the content of such a file.
func Kubeconfig(url, ca, user, namespace string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: test, user: {token: %q}}]
contexts: [{name: test, context: {cluster: test, user: test, namespace: %q}}]
current-context: test
`, url, ca, user, namespace)
}

func kubeReady(address string) error {
	_, err := kubeRequest(address, http.MethodGet, "/readyz", "", nil)
	return err
}

// Do makes a request as the administrator, and returns the answer. body is JSON or YAML.
func (k *Kube) Do(method, path, body string) (answer string, err error) {
	return kubeRequest(k.Address, method, path, "application/yaml", strings.NewReader(body))
}

// Must is Do for a request that has to succeed.
func (k *Kube) Must(t testing.TB, method, path, body string) string {
	t.Helper()
	answer, err := k.Do(method, path, body)
	need.Must(t, err)
	return answer
}

// Patch merges a patch in JSON into an object.
func (k *Kube) Patch(path, patch string) error {
	_, err := kubeRequest(k.Address, http.MethodPatch, path, "application/merge-patch+json", strings.NewReader(patch))
	return err
}

// Compact makes etcd forget all versions of objects but the present one.
func (k *Kube) Compact(t testing.TB) {
	t.Helper()
	var found struct {
		Metadata struct{ ResourceVersion string }
	}
	need.Must(t, json.Unmarshal([]byte(k.Must(t, http.MethodPost, "/api/v1/namespaces", "{metadata: {generateName: compact-}}")), &found))
	response, err := http.Post(k.Etcd.Endpoint+"/v3/kv/compaction", "application/json", strings.NewReader(`{"revision": "`+found.Metadata.ResourceVersion+`"}`))
	need.Must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("etcd answers %s", response.Status)
	}
}

// Namespace makes a namespace.
func (k *Kube) Namespace(t testing.TB, name string) {
	t.Helper()
	k.Must(t, http.MethodPost, "/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
}

func kubeRequest(address, method, path, kind string, body io.Reader) (string, error) {
	request, err := http.NewRequest(method, "https://"+address+path, body)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+KubeAdmin)
	request.Header.Set("Content-Type", kind)
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // on loopback
	}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	return string(answer), err
}
