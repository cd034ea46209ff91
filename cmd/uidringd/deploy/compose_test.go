//go:build linux

package deploy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/internal/test/need"
)

// compose is what the tests read of compose.yaml.
type compose struct {
	Services map[string]struct {
		Build       struct{ Context, Dockerfile string }
		Image       string
		Command     []string
		Ports       []string
		Volumes     []string
		Environment map[string]string
		ReadOnly    bool `yaml:"read_only"`
		HealthCheck struct{ Test []string }
	}
}

// The server accepts the config that the file mounts, and only this machine reaches it.
func TestCompose(t *testing.T) {
	var project compose
	need.Must(t, yaml.Unmarshal([]byte(read(t, "compose.yaml")), &project))
	uidringd := project.Services["uidringd"]
	if file := filepath.Join(uidringd.Build.Context, uidringd.Build.Dockerfile); read(t, file) != read(t, "Dockerfile") {
		t.Errorf("the image is built from %s", file)
	}
	// Into a root folder that is read-only, Compose mounts files and writes no content.
	if len(uidringd.Volumes) != 1 || !uidringd.ReadOnly {
		t.Fatalf("the root folder is read-only: %t; want so, and the config as the only volume: %q", uidringd.ReadOnly, uidringd.Volumes)
	}
	config := strings.Split(uidringd.Volumes[0], ":")
	if want := []string{"--config", config[1], "--anonymous"}; !slices.Equal(uidringd.Command, want) {
		t.Errorf("the command is %q, want %q", uidringd.Command, want)
	}
	// Nobody has to authenticate, so nobody else may get there.
	if want := []string{"127.0.0.1:8080:8080"}; !slices.Equal(uidringd.Ports, want) {
		t.Errorf("the ports are %q, want %q", uidringd.Ports, want)
	}
	postgres := project.Services["postgres"]
	if !strings.HasPrefix(postgres.Image, "docker.io/") {
		t.Errorf("the image %s has no registry, and podman knows none for it", postgres.Image)
	}
	if test := postgres.HealthCheck.Test; !slices.Contains(test, "-h") {
		t.Errorf("%q asks by the socket, which answers too early", test)
	}
	url := uidringd.Environment["UIDRING_DATABASE"]
	before, after, ok := strings.Cut(url, "${POSTGRES_PASSWORD:?set a password without characters special in URLs}")
	if !ok {
		t.Errorf("UIDRING_DATABASE is %q, want the password of the environment in it", url)
	}
	t.Setenv("UIDRING_DATABASE", before+"secret"+after)
	ask(t, read(t, config[0]), "--check", "--anonymous")
}
