// Package hop starts what the proxy's cost is compared with: nginx over a Unix socket before a trivial server.
package hop

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/conformance/stack"
)

//go:embed nginx.conf
var configSource string

var configTemplate = template.Must(template.New("nginx.conf").Parse(configSource))

// Pair is a trivial server on a Unix socket, and nginx before it.
type Pair struct {
	Direct, Nginx measure.Server
	processes     []*stack.Process
}

// nginxPaths are where distributions put the program, which need not be on the PATH of a user.
var nginxPaths = []string{"nginx", "/usr/sbin/nginx"}

// Program is the path of nginx, or an error that says how to get it.
func Program() (string, error) {
	for _, path := range nginxPaths {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("nginx is not installed (Debian: apt-get install nginx-light)")
}

// Start starts both with their files in dir, which must be absolute.
func Start(ctx context.Context, dir string) (*Pair, error) {
	nginx, err := Program()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	address, err := stack.FreeAddress()
	if err != nil {
		return nil, err
	}
	socket, config := filepath.Join(dir, "null.sock"), filepath.Join(dir, "nginx.conf")
	if err := writeConfig(config, map[string]any{"Dir": dir, "Socket": socket, "Listen": address, "Root": os.Getuid() == 0}); err != nil {
		return nil, err
	}
	p := &Pair{}
	if err := p.start(dir, "null", self, "null", "--listen", "unix:"+socket); err != nil {
		return nil, err
	}
	if err := p.start(dir, "nginx", nginx, "-c", config, "-p", dir); err != nil {
		return nil, err
	}
	if p.Direct, err = server("null server", "unix:"+socket, p.processes[0]); err == nil {
		p.Nginx, err = server("nginx + null server", "http://"+address, p.processes...)
	}
	if err == nil {
		err = measure.WaitReady(ctx, p.Nginx, p.processes[1].Exited())
	}
	if err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// Stop ends nginx, then the server behind it.
func (p *Pair) Stop() {
	for i := len(p.processes) - 1; i >= 0; i-- {
		p.processes[i].Stop(5 * time.Second)
	}
}

func (p *Pair) start(dir, name, program string, args ...string) error {
	process, err := stack.StartProcess(dir, name, program, args...)
	if err != nil {
		p.Stop()
		return err
	}
	p.processes = append(p.processes, process)
	return nil
}

func writeConfig(path string, values map[string]any) error {
	var b strings.Builder
	if err := configTemplate.Execute(&b, values); err != nil {
		return fmt.Errorf("write nginx configuration: %w", err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write nginx configuration: %w", err)
	}
	return nil
}

func server(name, address string, processes ...*stack.Process) (measure.Server, error) {
	e, err := load.NewEndpoint(address, "nim", "", "null")
	s := measure.Server{Name: name, Endpoint: e}
	for _, p := range processes {
		s.PIDs = append(s.PIDs, p.PID())
	}
	return s, err
}
