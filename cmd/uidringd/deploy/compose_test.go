package deploy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// Compose reads the file, and the server accepts the config in it.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithEnv([]string{"POSTGRES_PASSWORD=secret"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	uidringd := project.Services["uidringd"]
	if file := filepath.Join(uidringd.Build.Context, uidringd.Build.Dockerfile); read(t, file) != read(t, "Dockerfile") {
		t.Errorf("the image is built from %s", file)
	}
	// Into a root folder that is read-only, Compose mounts files and writes no content.
	if len(uidringd.Volumes) != 1 || len(uidringd.Configs) > 0 || !uidringd.ReadOnly {
		t.Fatalf("the root folder is read-only: %t; want so, and the config as the only volume: %+v, %+v", uidringd.ReadOnly, uidringd.Volumes, uidringd.Configs)
	}
	config := uidringd.Volumes[0]
	if want := []string{"--config", config.Target, "--anonymous"}; !slices.Equal(uidringd.Command, want) {
		t.Errorf("the command is %q, want %q", uidringd.Command, want)
	}
	// Nobody has to authenticate, so nobody else may get there.
	if port := uidringd.Ports[0]; port.HostIP != "127.0.0.1" || port.Target != 8080 {
		t.Errorf("the port is %+v, want 8080 on 127.0.0.1", port)
	}
	postgres := project.Services["postgres"]
	if !strings.HasPrefix(postgres.Image, "docker.io/") {
		t.Errorf("the image %s has no registry, and podman knows none for it", postgres.Image)
	}
	if test := postgres.HealthCheck.Test; !slices.Contains(test, "-h") {
		t.Errorf("%q asks by the socket, which answers too early", test)
	}
	t.Setenv("UIDRING_DATABASE", *uidringd.Environment["UIDRING_DATABASE"])
	ask(t, read(t, config.Source), "--check", "--anonymous")
}
