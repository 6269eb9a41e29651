//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// logLines decodes a log; every line must have the shape that both processes share.
func logLines(t *testing.T, log string) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(log) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		at, _ := line["time"].(string)
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", at); err != nil || line["level"] == nil || line["message"] == nil {
			t.Fatalf("no level, message or time as both have it: %s", text)
		}
		lines = append(lines, line)
	}
	return lines
}

// of returns the line about a request.
func of(lines []map[string]any, id string) map[string]any {
	for _, line := range lines {
		if line["request_id"] == id {
			return line
		}
	}
	return nil
}

// Both processes log the same id and trace in the same shape, and neither a word of what was planted in texts and headers.
func TestLogsShareIDsAndHoldNoSecrets(t *testing.T) {
	const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	s := start(t, []string{"--task", "null", "--log-level", "debug"}, []string{"--log-level", "debug"})
	model := servedModel(t, s.URL)
	ask := func(id, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/ranking", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"X-Request-ID": id, "traceparent": traceparent, "Authorization": "Bearer planted-key", "User-Agent": "planted-agent", "Cookie": "planted=1", "X-Other": "planted",
		} {
			request.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	ask("good", body(model, "planted query", []string{"planted passage"}, "END"))
	ask("too-long", body(model, "planted query", []string{strings.Repeat("planted ", 2000)}, "NONE"))
	ask("unknown-field", `{"planted":1}`)
	ask("not-json", `planted`)
	ask("unknown-model", body("planted", "planted", []string{"planted"}, "END"))
	ask("planted id, not well formed", body(model, "planted", []string{"planted"}, "END"))
	s.Stop()
	proxy, task := logLines(t, s.Proxy.Log()), logLines(t, s.Task.Log())
	for _, id := range []string{"good", "too-long"} {
		for side, line := range map[string]map[string]any{"proxy": of(proxy, id), "task": of(task, id)} {
			if line == nil || line["traceparent"] != traceparent {
				t.Errorf("the %s says of %s: %v", side, id, line)
			}
		}
	}
	for _, id := range []string{"unknown-field", "not-json", "unknown-model"} {
		if line := of(proxy, id); line == nil || line["outcome"] == "ok" || line["reason"] == "" {
			t.Errorf("the proxy says of %s: %v", id, line)
		}
	}
	if logs := s.Proxy.Log() + s.Task.Log(); strings.Contains(logs, "planted") {
		t.Errorf("what was planted is in a log:\n%s", logs)
	}
}
