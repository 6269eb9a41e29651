//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The wall clock of both processes jumps about; nothing but the times of day in logs and records shows it.
func TestWallClockJumps(t *testing.T) {
	proxy := jumpingProxy(t)
	t.Setenv("RANKING_PROXY_PROGRAM", proxy)
	t.Setenv("LD_PRELOAD", jumpingLibrary(t))
	records := filepath.Join(t.TempDir(), "records.jsonl")
	s := start(t, append(defaultModel(t), "--log-level", "debug"), []string{"--records", records, "--log-level", "debug"})
	began := time.Now()
	lives := livesOn(t, s)
	client := &oneConnection{t: t, url: s.URL, client: http.Client{Transport: new(http.Transport)}}
	for i := range 60 {
		client.rank(fmt.Sprintf("clock-%d", i), strings.NewReader(firstRequest))
	}
	client.rank("clock-slow", slowly(firstRequest))
	time.Sleep(2 * time.Second) // idle, for much less than --idle-timeout
	client.rank("clock-idle", strings.NewReader(firstRequest))
	if client.connections != 1 {
		t.Errorf("%d connections for one client that keeps its own alive", client.connections)
	}
	lives()
	if !s.Proxy.Stop(stopsWithin) || !s.Task.Stop(stopsWithin) {
		t.Error("does not end by itself")
	}
	for _, r := range readRecords(t, records) {
		within := time.Since(began).Microseconds()
		if r.Outcome != "ok" || r.Timing.Handler < 0 || r.Timing.Handler > within || r.Timing.IPC == nil || *r.Timing.IPC > r.Timing.Handler ||
			r.Timing.Queue < 0 || r.Timing.Call < 0 || r.Timing.Queue+r.Timing.Call > *r.Timing.IPC {
			t.Errorf("record %+v", r)
		}
	}
	mustJump(t, "proxy", s.Proxy.Log())
	mustJump(t, "Task", s.Task.Log())
}

const stopsWithin = 20 * time.Second

// A full queue names a sane time to come back, and a deadline passes when it should.
func TestWallClockJumpsUnderOverload(t *testing.T) {
	t.Setenv("RANKING_PROXY_PROGRAM", jumpingProxy(t))
	t.Setenv("LD_PRELOAD", jumpingLibrary(t))
	s := start(t, nullTask("--null-delay-ms", "2000", "--null-queue", "1"), nil)
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			sent := time.Now()
			status, a := send(t.Context(), s.URL, fmt.Sprintf("clock-%d", i), body(nullModel, "q", []string{"p"}, "END"), 5000)
			took := time.Since(sent)
			seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
			switch {
			case status == http.StatusTooManyRequests && seconds >= 1 && seconds <= 10:
			case status == http.StatusOK && took > 1900*time.Millisecond:
			default:
				t.Errorf("status %d after %v, come back in %d s", status, took, seconds)
			}
		})
	}
	clients.Wait()
	sent := time.Now()
	status, _ := send(t.Context(), s.URL, "clock-deadline", body(nullModel, "q", []string{"p"}, "END"), 300)
	if took := time.Since(sent); status != http.StatusGatewayTimeout || took < 300*time.Millisecond {
		t.Errorf("a deadline of 300 ms: status %d after %v", status, took)
	}
}

func TestSuperviseWhileTheWallClockJumps(t *testing.T) {
	t.Setenv("RANKING_PROXY_PROGRAM", jumpingProxy(t))
	t.Setenv("LD_PRELOAD", jumpingLibrary(t))
	supervise(t)
}

// oneConnection ranks over one connection as long as the server keeps it.
type oneConnection struct {
	t           *testing.T
	url         string
	client      http.Client
	connections int
}

func (c *oneConnection) rank(id string, body io.Reader) {
	c.t.Helper()
	trace := httptrace.WithClientTrace(c.t.Context(), &httptrace.ClientTrace{ConnectStart: func(string, string) { c.connections++ }})
	ctx, cancel := context.WithTimeout(trace, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/ranking", body)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("X-Request-ID", id)
	request.ContentLength = int64(len(firstRequest))
	sent := time.Now()
	response, err := c.client.Do(request)
	if err != nil {
		c.t.Errorf("%s: %v", id, err)
		return
	}
	defer response.Body.Close()
	raw, _ := io.ReadAll(response.Body)
	elapsed := float64(time.Since(sent)) / float64(time.Millisecond)
	var a struct {
		Timing map[string]float64 `json:"trtmc_timing"`
	}
	if err := json.Unmarshal(raw, &a); err != nil || response.StatusCode != http.StatusOK || len(a.Timing) == 0 {
		c.t.Errorf("%s: status %d: %s", id, response.StatusCode, raw)
	}
	for name, ms := range a.Timing {
		if ms < 0 || ms > elapsed {
			c.t.Errorf("%s: %s is %v, of %v that passed", id, name, ms, elapsed)
		}
	}
}

// slowly gives a text in two halves with a pause between, in which the wall clock has jumped a hundred times.
func slowly(text string) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, text[:len(text)/2])
		time.Sleep(500 * time.Millisecond)
		_, _ = io.WriteString(w, text[len(text)/2:])
		w.Close()
	}()
	return r
}
