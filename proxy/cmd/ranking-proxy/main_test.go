package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc/ipctest"
)

// TestMain makes this test binary the program itself when it is started as such below.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_PROXY") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is a running ranking-proxy.
type program struct {
	*exec.Cmd
	log lockedBuffer
	url string
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func command(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "TEST_AS_PROXY=1")
	return c
}

func start(t *testing.T, args ...string) *program {
	p := &program{Cmd: command(append([]string{"--listen=127.0.0.1:0"}, args...)...)}
	p.Stderr = &p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	address := regexp.MustCompile(`"address":"([^"]+)"`)
	p.eventually(t, "the address", func() bool {
		found := address.FindStringSubmatch(p.log.String())
		if found != nil {
			p.url = "http://" + found[1]
		}
		return found != nil
	})
	return p
}

func (p *program) eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s: not within 20 s\n%s", what, p.log.String())
}

func (p *program) status(path string) int {
	response, err := http.Get(p.url + path)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

func (p *program) rank() (int, error) {
	response, err := http.Post(p.url+"/v1/ranking", "application/json",
		strings.NewReader(`{"model":"test-model","query":{"text":"q"},"passages":[{"text":"a"}]}`))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func TestServeDrainAndExit(t *testing.T) {
	release := make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.When(release, ipctest.Answer)})
	p := start(t, "--task-socket="+task.Address, "--drain-delay=50ms")
	p.eventually(t, "readiness", func() bool { return p.status("/v1/health/ready") == 200 })
	answered := make(chan int, 1)
	go func() { status, _ := p.rank(); answered <- status }()
	p.eventually(t, "the rank", func() bool { return task.Ranks.Load() == 1 })
	p.Process.Signal(syscall.SIGTERM)
	p.eventually(t, "the log line", func() bool { return strings.Contains(p.log.String(), `"message":"draining"`) })
	close(release)
	if status := <-answered; status != 200 {
		t.Fatalf("the accepted request got %d", status)
	}
	if err := p.Wait(); err != nil {
		t.Fatalf("exit: %v\n%s", err, p.log.String())
	}
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.Silent})
	p := start(t, "--task-socket="+task.Address)
	p.eventually(t, "readiness", func() bool { return p.status("/v1/health/ready") == 200 })
	go p.rank()
	p.eventually(t, "the rank", func() bool { return task.Ranks.Load() == 1 })
	p.Process.Signal(syscall.SIGTERM)
	p.eventually(t, "the log line", func() bool { return strings.Contains(p.log.String(), `"message":"draining"`) })
	p.Process.Signal(syscall.SIGTERM)
	p.Wait()
	if status := p.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Fatalf("ended with %v", p.ProcessState)
	}
}

func TestCommandLine(t *testing.T) {
	f := func(code int, mention string, args ...string) {
		t.Helper()
		c := command(args...)
		output, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != code || !strings.Contains(string(output), mention) {
			t.Fatalf("%v: exit %d\n%s", args, c.ProcessState.ExitCode(), output)
		}
	}
	f(0, "ranking-proxy 0.1.0\ncommit ", "version")
	f(0, "--task-socket", "--help")
	f(2, "--max-passages", "--max-passages=none")
	f(0, "--html", "records", "--help")
	f(2, "records summary FILE", "records")
	f(1, "no-such-file", "records", "summary", "no-such-file")
	f(0, "0 records", "records", "summary", os.DevNull)
	f(0, `"records": 0`, "records", "summary", "--json", os.DevNull)
	f(1, "listen", "--listen=256.0.0.1:1")
	f(1, "listen", "--listen=127.0.0.1:0", "--admin-listen=256.0.0.1:1")
	f(1, "no-such-file", "--api-key-file=no-such-file")
	f(1, "no key", "--api-key-file="+os.DevNull)
	f(1, "TLS certificate", "--tls-cert=no-such-file", "--tls-key=no-such-file")
}
