//go:build linux

package deploy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// resources are where an API server takes the kinds that the manifests have.
var resources = map[string]string{
	"v1 ConfigMap":                             "/api/v1/namespaces/ids/configmaps",
	"v1 Service":                               "/api/v1/namespaces/ids/services",
	"v1 ServiceAccount":                        "/api/v1/namespaces/ids/serviceaccounts",
	"apps/v1 Deployment":                       "/apis/apps/v1/namespaces/ids/deployments",
	"apps/v1 StatefulSet":                      "/apis/apps/v1/namespaces/ids/statefulsets",
	"networking.k8s.io/v1 NetworkPolicy":       "/apis/networking.k8s.io/v1/namespaces/ids/networkpolicies",
	"policy/v1 PodDisruptionBudget":            "/apis/policy/v1/namespaces/ids/poddisruptionbudgets",
	"rbac.authorization.k8s.io/v1 Role":        "/apis/rbac.authorization.k8s.io/v1/namespaces/ids/roles",
	"rbac.authorization.k8s.io/v1 RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/ids/rolebindings",
	"gateway.networking.k8s.io/v1 HTTPRoute":   "/apis/gateway.networking.k8s.io/v1/namespaces/ids/httproutes",
	"gateway.networking.k8s.io/v1 GRPCRoute":   "/apis/gateway.networking.k8s.io/v1/namespaces/ids/grpcroutes",
}

var head = regexp.MustCompile(`(?m)^apiVersion: (\S+)\nkind: (\S+)\n`)

// apply has an API server read a manifest, and returns what it understands, by kind: an
// object with the defaults of all fields. Fields that it does not know are errors. It keeps
// the objects of the kinds in keep.
func apply(t *testing.T, k *servertest.Kube, name string, keep ...string) map[string]object {
	t.Helper()
	objects := map[string]object{}
	for text := range strings.SplitSeq(read(t, name), "\n---\n") {
		kind := head.FindStringSubmatch(text)
		if kind == nil || resources[kind[1]+" "+kind[2]] == "" {
			t.Fatalf("%s has an object of kind %q", name, kind)
		}
		path := resources[kind[1]+" "+kind[2]] + "?fieldValidation=Strict"
		var o object
		need.Must(t, json.Unmarshal([]byte(k.Must(t, http.MethodPost, path+"&dryRun=All", text)), &o))
		for _, kept := range keep {
			if kept == kind[2] {
				k.Must(t, http.MethodPost, path, text)
			}
		}
		objects[kind[2]] = o
	}
	return objects
}

// object has the fields of all kinds that the tests read.
type object struct {
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Data map[string]string // of a ConfigMap
	Spec struct {
		Selector    json.RawMessage // a Service's labels, or others' matchLabels
		PodSelector json.RawMessage // of a NetworkPolicy
		ServiceName string
		Ports       []struct{ Port int } // of a Service
		Rules       []struct {
			BackendRefs []struct {
				Name string
				Port int
			}
		} // of a route
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     corev1.PodSpec
		}
	}
	Rules    json.RawMessage // of a Role
	Subjects []struct{ Name string }
	RoleRef  struct{ Name string }
}

// selects returns the labels that an object selects.
func (o object) selects(t *testing.T) map[string]string {
	t.Helper()
	var labels map[string]string
	var wrapped struct{ MatchLabels map[string]string }
	if json.Unmarshal(slices.Concat(o.Spec.PodSelector, o.Spec.Selector), &wrapped) == nil && wrapped.MatchLabels != nil {
		return wrapped.MatchLabels
	}
	need.Must(t, json.Unmarshal(o.Spec.Selector, &labels))
	return labels
}

// An API server accepts every manifest, and their objects belong together. With the Role of
// a manifest, and no other right, its service account takes numbers.
func TestKubernetes(t *testing.T) {
	k := servertest.StartKube(t)
	k.Namespace(t, "ids")
	workers := map[string]string{"deployment": "lease", "no-database": "lease", "statefulset": "statefulset", "application": "", "sidecar": ""}
	if found, err := filepath.Glob("kubernetes/*"); err != nil || len(found) != len(workers) {
		t.Errorf("%q, %v; want %d manifests", found, err, len(workers))
	}
	for name, worker := range workers {
		t.Run(name, func(t *testing.T) {
			objects := apply(t, k, "kubernetes/"+name+".yaml", "Role", "RoleBinding")
			set, ok := objects["Deployment"]
			if !ok {
				set = objects["StatefulSet"]
				if service := objects["Service"].Metadata.Name; set.Spec.ServiceName != service {
					t.Errorf("the service is %q, and the set names %q", service, set.Spec.ServiceName)
				}
			}
			template := set.Spec.Template
			for kind, o := range objects {
				if (o.Spec.Selector != nil || o.Spec.PodSelector != nil) && !reflect.DeepEqual(o.selects(t), template.Metadata.Labels) {
					t.Errorf("the %s selects %s, and pods have %v", kind, o.Spec.Selector, template.Metadata.Labels)
				}
			}
			checkRights(t, template.Spec)
			if _, ok := objects["Role"]; ok {
				takesNumbers(t, k, objects)
			} else if mounts := template.Spec.AutomountServiceAccountToken; mounts == nil || *mounts {
				t.Error("the pod has a token that it does not need")
			}
			if name == "sidecar" {
				checkSidecar(t, template.Spec, objects["ConfigMap"])
			}
			if worker != "" {
				if _, ok := objects["NetworkPolicy"]; !ok {
					t.Error("everyone reaches the pods")
				}
				checkPod(t, template.Spec, objects["ConfigMap"])
				checkConfig(t, template.Spec, objects["ConfigMap"].Data["uidring.yaml"], worker)
			}
		})
	}
}

// An API server that has the kinds of the Gateway API accepts the routes, and they lead to the Service of the servers.
func TestGateway(t *testing.T) {
	k := servertest.StartKube(t)
	k.Namespace(t, "ids")
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "sigs.k8s.io/gateway-api@v1.4.1")
	download.Dir, download.Env = t.TempDir(), append(os.Environ(), "GOWORK=off")
	out, err := download.Output()
	if err != nil {
		need.Skip(t, err)
	}
	var module struct{ Dir string }
	need.Must(t, json.Unmarshal(out, &module))
	for _, kind := range []string{"httproutes", "grpcroutes"} {
		k.Must(t, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", read(t, module.Dir+"/config/crd/standard/gateway.networking.k8s.io_"+kind+".yaml"))
		servertest.Eventually(t, "the kind is served", func() bool {
			_, err := k.Do(http.MethodGet, "/apis/gateway.networking.k8s.io/v1/namespaces/ids/"+kind, "")
			return err == nil
		})
	}
	routes := apply(t, k, "gateway.yaml")
	if len(routes) != 2 {
		t.Errorf("%d kinds of routes, want 2", len(routes))
	}
	for _, manifest := range []string{"deployment", "statefulset"} {
		service := apply(t, k, "kubernetes/"+manifest+".yaml")["Service"]
		for kind, route := range routes {
			if to := route.Spec.Rules[0].BackendRefs[0]; to.Name != service.Metadata.Name || to.Port != service.Spec.Ports[0].Port {
				t.Errorf("%s leads to %+v, not to the service of %s: %+v", kind, to, manifest, service)
			}
		}
	}
}

// takesNumbers takes a number as the service account of a manifest. It may not do so without
// the manifest's Role.
func takesNumbers(t *testing.T, k *servertest.Kube, objects map[string]object) {
	t.Helper()
	account := objects["ServiceAccount"].Metadata.Name
	if got := objects["Deployment"].Spec.Template.Spec.ServiceAccountName; got != account {
		t.Errorf("the pods' service account is %q, want %q", got, account)
	}
	for _, as := range []string{account, "other"} {
		file := k.Kubeconfig(t, servertest.KubeAdmin, "ids")
		text := strings.Replace(read(t, file), "user: {token", "user: {as: \"system:serviceaccount:ids:"+as+"\", token", 1)
		need.Must(t, os.WriteFile(file, []byte(text), 0o600))
		for _, args := range []string{"gen -n 3 --dsn kube://", "workers --dsn kube://ids"} {
			command := exec.CommandContext(t.Context(), server(t), strings.Fields(args)...)
			command.Env, command.Dir = append(os.Environ(), "KUBECONFIG="+file), t.TempDir()
			out, err := command.CombinedOutput()
			if as == account && err != nil {
				t.Errorf("as %s: %s: %v\n%s", as, args, err, out)
			}
			if as != account && (err == nil || !strings.Contains(string(out), "a permission is missing: ")) {
				t.Errorf("as %s: %s: %v\n%s", as, args, err, out)
			}
		}
	}
}

// checkRights checks what a pod may do to its machine, and take from it.
func checkRights(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		if s := c.SecurityContext; !*pod.SecurityContext.RunAsNonRoot || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
			!*s.ReadOnlyRootFilesystem || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" || pod.SecurityContext.SeccompProfile.Type != "RuntimeDefault" {
			t.Errorf("the pod may do too much: %+v, %+v", pod.SecurityContext, s)
		}
		for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			if requested, limited := c.Resources.Requests[resource], c.Resources.Limits[resource]; requested.IsZero() || limited.IsZero() {
				t.Errorf("%s has no request or no limit: %+v", resource, c.Resources)
			}
		}
	}
}

// checkSidecar checks that the application mounts the folder of the server's sockets, and
// that the server understands its config.
func checkSidecar(t *testing.T, pod corev1.PodSpec, config object) {
	t.Helper()
	server, app := pod.InitContainers[0], pod.Containers[0]
	mount := app.VolumeMounts[0]
	shared := func(m corev1.VolumeMount) bool { return m.Name == mount.Name && m.MountPath == mount.MountPath }
	if *server.RestartPolicy != corev1.ContainerRestartPolicyAlways || !slices.ContainsFunc(server.VolumeMounts, shared) {
		t.Errorf("restartPolicy is %q, and the volumes %v and %v", *server.RestartPolicy, server.VolumeMounts, app.VolumeMounts)
	}
	text := config.Data["uidring.yaml"]
	clitest.Wants(t, text, "unix:"+mount.MountPath+"/http.sock", "unix:"+mount.MountPath+"/redis.sock")
	ask(t, strings.ReplaceAll(text, "/run/uidring", t.TempDir()), "--check")
	checkEnd(t, pod, text)
}

// checkPod checks that a pod is what the image needs, and that what it mounts is there.
func checkPod(t *testing.T, pod corev1.PodSpec, config object) {
	t.Helper()
	c := pod.Containers[0]
	if user := find(t, "Dockerfile", `USER (\d+):\d+`)[0]; fmt.Sprint(*pod.SecurityContext.RunAsUser) != user {
		t.Errorf("the pod runs as %d, the image as %s", *pod.SecurityContext.RunAsUser, user)
	}
	if r, l := c.ReadinessProbe.HTTPGet, c.LivenessProbe.HTTPGet; r.Path != "/readyz" || l.Path != "/healthz" || r.Port.StrVal != c.Ports[0].Name || l.Port != r.Port {
		t.Errorf("the probes ask %+v and %+v", r, l)
	}
	if p := c.StartupProbe; p.PeriodSeconds*p.FailureThreshold < 120 { // a start can wait two minutes for a number
		t.Errorf("a start may take %d times %d s, want two minutes", p.FailureThreshold, p.PeriodSeconds)
	}
	mounts := map[string]string{}
	for _, mount := range c.VolumeMounts {
		mounts[mount.Name] = mount.MountPath
	}
	for _, volume := range pod.Volumes {
		if mounts[volume.Name] == "" || volume.ConfigMap != nil && volume.ConfigMap.Name != config.Metadata.Name {
			t.Errorf("volume %+v is mounted at %q", volume, mounts[volume.Name])
		}
	}
	if want := "[--config " + mounts["config"] + "/uidring.yaml]"; fmt.Sprint(c.Args) != want {
		t.Errorf("the arguments are %q, want %s", c.Args, want)
	}
}

// checkConfig checks the server's config as it will be when an operator has put a token
// and a secret there.
func checkConfig(t *testing.T, pod corev1.PodSpec, config, worker string) {
	t.Helper()
	port := fmt.Sprintf("listen: 0.0.0.0:%d\n", pod.Containers[0].Ports[0].ContainerPort)
	clitest.Wants(t, config, port, "worker: "+worker, "sha256: TOKEN_SHA256, generators: [ids]", "sha256: OPERATOR_SHA256, operations: true")
	config = strings.ReplaceAll(config, "/run/secrets/uidringd/database", database(t))
	config = strings.ReplaceAll(config, "TOKEN_SHA256", strings.Repeat("0a", 32))
	config = strings.ReplaceAll(config, "OPERATOR_SHA256", strings.Repeat("0b", 32))
	ask(t, config, "--check")
	checkEnd(t, pod, config)
}

var shutdown = regexp.MustCompile(`(?m)^ +(delay|drain|release): (\S+)`)

// checkEnd checks that Kubernetes waits until the server has ended, by the config with its
// defaults.
func checkEnd(t *testing.T, pod corev1.PodSpec, config string) {
	t.Helper()
	longest := time.Duration(0)
	for _, line := range shutdown.FindAllStringSubmatch(ask(t, config, "--print-config"), -1) {
		d, err := time.ParseDuration(line[2])
		need.Must(t, err)
		longest += d
	}
	if patience := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; longest == 0 || longest >= patience {
		t.Errorf("the server takes up to %v to end, and Kubernetes kills it after %v", longest, patience)
	}
}
