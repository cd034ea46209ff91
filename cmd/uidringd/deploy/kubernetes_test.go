package deploy

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// object is any of the kinds that the manifests have.
type object interface{ GetName() string }

// parse reads a manifest by the types of Kubernetes. Unknown and repeated keys are
// errors.
func parse(t *testing.T, name string) map[string]object {
	t.Helper()
	objects := map[string]object{}
	for _, text := range strings.Split(read(t, name), "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o, ok := map[string]object{
			"v1 ConfigMap":                  new(corev1.ConfigMap),
			"v1 Service":                    new(corev1.Service),
			"apps/v1 Deployment":            new(appsv1.Deployment),
			"apps/v1 StatefulSet":           new(appsv1.StatefulSet),
			"policy/v1 PodDisruptionBudget": new(policyv1.PodDisruptionBudget),
		}[kind.APIVersion+" "+kind.Kind]
		if !ok {
			t.Fatalf("%s has an object of kind %q", name, kind)
		}
		if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
			t.Errorf("%s, %s: %v", name, kind.Kind, err)
		}
		objects[kind.Kind] = o
	}
	return objects
}

func TestKubernetes(t *testing.T) {
	for kind, name := range map[string]string{"Deployment": "deployment", "StatefulSet": "statefulset"} {
		t.Run(name, func(t *testing.T) {
			objects := parse(t, "kubernetes/"+name+".yaml")
			var pod corev1.PodTemplateSpec
			var selector *metav1.LabelSelector
			var worker string
			switch set := objects[kind].(type) {
			case *appsv1.Deployment:
				pod, selector, worker = set.Spec.Template, set.Spec.Selector, "lease"
			case *appsv1.StatefulSet:
				pod, selector, worker = set.Spec.Template, set.Spec.Selector, "statefulset"
				if service := objects["Service"].GetName(); set.Spec.ServiceName != service {
					t.Errorf("the service is %q, and the set names %q", service, set.Spec.ServiceName)
				}
			}
			for what, labels := range map[string]map[string]string{
				"set":     selector.MatchLabels,
				"service": objects["Service"].(*corev1.Service).Spec.Selector,
				"budget":  objects["PodDisruptionBudget"].(*policyv1.PodDisruptionBudget).Spec.Selector.MatchLabels,
			} {
				if !reflect.DeepEqual(labels, pod.Labels) {
					t.Errorf("the %s selects %v, and pods have %v", what, labels, pod.Labels)
				}
			}
			config := objects["ConfigMap"].(*corev1.ConfigMap)
			checkPod(t, pod.Spec, config)
			checkConfig(t, pod.Spec, config.Data["uidring.yaml"], worker)
		})
	}
}

// checkPod checks what a pod may do, and that what it mounts is there.
func checkPod(t *testing.T, pod corev1.PodSpec, config *corev1.ConfigMap) {
	t.Helper()
	c := pod.Containers[0]
	if s := c.SecurityContext; !*pod.SecurityContext.RunAsNonRoot || *pod.AutomountServiceAccountToken ||
		*s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" ||
		pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod may do too much: %+v, %+v", pod.SecurityContext, s)
	}
	if user := find(t, "Dockerfile", `USER (\d+):\d+`)[0]; fmt.Sprint(*pod.SecurityContext.RunAsUser) != user {
		t.Errorf("the pod runs as %d, the image as %s", *pod.SecurityContext.RunAsUser, user)
	}
	for path, probe := range map[string]*corev1.Probe{"/readyz": c.ReadinessProbe, "/healthz": c.LivenessProbe} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port.String() != c.Ports[0].Name {
			t.Errorf("a probe asks %+v, want %s", probe.HTTPGet, path)
		}
	}
	mounts := map[string]string{}
	for _, mount := range c.VolumeMounts {
		mounts[mount.Name] = mount.MountPath
	}
	for _, volume := range pod.Volumes {
		if mounts[volume.Name] == "" || volume.ConfigMap != nil && volume.ConfigMap.Name != config.Name {
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
	const file = "/run/secrets/uidringd/database"
	for _, want := range []string{port, "worker: " + worker, file, "sha256: TOKEN_SHA256, generators: [ids]", "sha256: OPERATOR_SHA256, operations: true"} {
		if !strings.Contains(config, want) {
			t.Errorf("the config has no %q:\n%s", want, config)
		}
	}
	config = strings.ReplaceAll(config, file, database(t))
	config = strings.ReplaceAll(config, "TOKEN_SHA256", strings.Repeat("0a", 32))
	config = strings.ReplaceAll(config, "OPERATOR_SHA256", strings.Repeat("0b", 32))
	ask(t, config, "--check")
	if drained := drainTime(t, config); time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second <= drained {
		t.Errorf("the server takes up to %v to end, and Kubernetes kills it after %d s", drained, *pod.TerminationGracePeriodSeconds)
	}
}

var shutdown = regexp.MustCompile(`(?m)^ +(delay|drain|release): (\S+)`)

// drainTime returns how long the server takes to end, at most, by the config with its
// defaults.
func drainTime(t *testing.T, config string) (sum time.Duration) {
	t.Helper()
	for _, line := range shutdown.FindAllStringSubmatch(ask(t, config, "--print-config"), -1) {
		d, err := time.ParseDuration(line[2])
		if err != nil {
			t.Fatal(err)
		}
		sum += d
	}
	if sum == 0 {
		t.Fatal("--print-config shows no shutdown")
	}
	return sum
}
