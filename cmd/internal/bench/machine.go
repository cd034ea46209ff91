package bench

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// Machine is what the figures hold for.
type Machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"` // that are used
	Platform string `json:"platform"`
	Go       string `json:"go"`
}

// ThisMachine describes the machine that this process runs on. A virtual machine may
// hide the processor's name, but not its model, by which it can be looked up.
func ThisMachine() Machine {
	cpu := cpuid.CPU
	return Machine{
		CPU:      fmt.Sprintf("%s, family %d, model %d, stepping %d", cmp.Or(cpu.BrandName, "not known"), cpu.Family, cpu.Model, cpu.Stepping),
		Cores:    runtime.GOMAXPROCS(0),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Go:       runtime.Version(),
	}
}
