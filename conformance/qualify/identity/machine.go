package identity

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"trtmc-ranking-proxy/bench/report"
)

// Machine is what a qualification ran on. It has no host name.
type Machine struct {
	report.Machine
	ISA         []string `json:"isa"`          // of what matters to inference
	Memory      string   `json:"memory"`       // total
	Kernel      string   `json:"kernel"`       // name and release
	LoadAverage string   `json:"load_average"` // 1, 5 and 15 minutes, before the first step: how busy the machine was with other work
	GPU         string   `json:"gpu"`          // name and driver, or none
}

// ThisMachine looks at /proc and asks nvidia-smi, where there is one.
func ThisMachine(ctx context.Context) Machine {
	return Machine{
		Machine: report.ThisMachine(), ISA: isa(procLine("/proc/cpuinfo", "flags")),
		Memory: procLine("/proc/meminfo", "MemTotal"), Kernel: kernel(), LoadAverage: loadAverage(), GPU: gpu(ctx),
	}
}

// extensions are those that decide which kernels run.
var extensions = []string{"avx2", "f16c", "fma", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"}

func isa(flags string) []string {
	has := strings.Fields(flags)
	return slices.DeleteFunc(slices.Clone(extensions), func(e string) bool { return !slices.Contains(has, e) })
}

// procLine is the value of the first "key: value" line of that key.
func procLine(path, key string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(data)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return "Linux " + strings.TrimSpace(string(release))
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(data)); err == nil && len(fields) >= 3 {
		return strings.Join(fields[:3], " ")
	}
	return "unknown"
}

func gpu(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").Output()
	if err != nil {
		return "none"
	}
	return strings.TrimSpace(string(out))
}
