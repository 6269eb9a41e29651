package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/apikey"
	"trtmc-ranking-proxy/proxy/backend"
	"trtmc-ranking-proxy/proxy/config"
	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/records"
	"trtmc-ranking-proxy/proxy/telemetry"
	"trtmc-ranking-proxy/proxy/tracing"
)

// proxy is a running server in front of a test Task, on a real socket at both ends.
type proxy struct {
	*Server
	t     testing.TB
	url   string
	admin string // where health and metrics are, url unless --admin-listen says otherwise
	addr  string
	logs  *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *logBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// startProxy serves with the default settings and flags, and waits until a Task with the zero behaviour would be ready.
func startProxy(t testing.TB, task *ipctest.Task, flags ...string) *proxy {
	p := startProxyAt(t, task.Address, flags...)
	p.waitReady(true)
	return p
}

func startProxyAt(t testing.TB, socket string, flags ...string) *proxy {
	t.Helper()
	flags = append([]string{"--task-socket=" + socket, "--ping-interval=20ms", "--ping-timeout=10s", "--drain-delay=0s", "--log-level=debug"}, flags...)
	c, err := config.Parse(flags, func(string) (string, bool) { return "", false }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	logs := new(logBuffer)
	level, _ := zerolog.ParseLevel(c.LogLevel)
	log := zerolog.New(logs).Level(level)
	metrics := telemetry.New("test")
	pool := backend.Start(backend.Options{
		Sockets: c.TaskSockets, Client: "test", PingInterval: c.PingInterval, PingTimeout: c.PingTimeout,
		MuteTimeout: c.MuteTimeout, StallTimeout: c.StallTimeout, Log: log, Metrics: metrics,
	})
	t.Cleanup(pool.Close)
	s, err := New(Options{
		Config: c, Backend: pool, Metrics: metrics, Records: startRecords(t, c, log, metrics), Tracer: startTracer(t, c), Log: log, Version: "test",
		Dialects: dialect.All(dialect.NIM{DefaultModel: dialect.DefaultModel(c.DefaultModel), TopN: c.NIMTopN}),
		Keys:     loadKeys(t, c),
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 2)
	listen := func(serve func(net.Listener) error) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { served <- serve(listener) }()
		return listener.Addr().String()
	}
	p := &proxy{Server: s, t: t, addr: listen(s.Serve), logs: logs}
	p.url, p.admin = "http://"+p.addr, "http://"+p.addr
	if c.AdminListen != "" {
		p.admin = "http://" + listen(s.ServeAdmin)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		http.DefaultClient.CloseIdleConnections()
		if err := s.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return p
}

// loadKeys returns nil unless the settings name a file.
func loadKeys(t testing.TB, c *config.Config) *apikey.Keys {
	t.Helper()
	if c.APIKeyFile == "" {
		return nil
	}
	keys, err := apikey.Load(c.APIKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// startRecords returns nil unless the settings name a file.
func startRecords(t testing.TB, c *config.Config, log zerolog.Logger, metrics *telemetry.Metrics) *records.Writer {
	t.Helper()
	if c.Records == "" {
		return nil
	}
	w, err := records.Open(records.Options{
		Path: c.Records, Full: records.Full(c.RecordsFull), Texts: c.RecordsTexts, MaxBytes: c.RecordsMaxBytes, Keep: c.RecordsKeep,
		Log: log, Metrics: metrics,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// startTracer returns nil unless the settings name a collector.
func startTracer(t testing.TB, c *config.Config) *tracing.Tracer {
	t.Helper()
	if c.OTLPEndpoint == "" {
		return nil
	}
	tracer, err := tracing.Start(c.OTLPEndpoint, "test", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// waitReady fails the test if readiness does not become as wanted.
func (p *proxy) waitReady(want bool) {
	p.t.Helper()
	p.eventually("readiness", func() bool { return (p.at(p.admin).get("/v1/health/ready").status == 200) == want })
}

func (p *proxy) eventually(what string, holds func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if holds() {
			return
		}
	}
	p.t.Fatalf("%s: not within 10 s", what)
}

// answer is a response read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// fields decodes an error body, which has only strings.
func (a answer) fields(t testing.TB) map[string]string {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal([]byte(a.body), &fields); err != nil {
		t.Fatalf("%d with body %q: %v", a.status, a.body, err)
	}
	return fields
}

// at is p as reached by another URL.
func (p *proxy) at(url string) *proxy {
	other := *p
	other.url = url
	return &other
}

func (p *proxy) get(path string) answer { return p.do("GET", path, "", nil) }

func (p *proxy) rank(body string) answer { return p.do("POST", "/v1/ranking", body, nil) }

func (p *proxy) do(method, path, body string, header map[string]string) answer {
	p.t.Helper()
	request, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(read)}
}

// raw writes to a connection of its own and returns it.
func (p *proxy) raw(text string) net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		p.t.Fatal(err)
	}
	return conn
}

func (p *proxy) metric(name string) string {
	for line := range strings.Lines(p.get("/metrics").body) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// post is a whole ranking request with a body, for raw connections.
func post(body string) string {
	return "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
}

const goodBody = `{"model":"test-model","query":{"text":"green tea"},"passages":[{"text":"black tea"},{"text":"green tea"},{"text":"coffee"}]}`
