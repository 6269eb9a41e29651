//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// record is what these tests look at in a line.
type record struct {
	ID      string `json:"request_id"`
	Outcome string `json:"outcome"`
	Timing  struct {
		Handler int64  `json:"handler_us"`
		IPC     *int64 `json:"ipc_us"`
		Queue   int64  `json:"queue_us"`
		Call    int64  `json:"public_task_call_wall_us"`
	} `json:"timing"`
	Observation struct {
		Scores []float32 `json:"scores"`
	} `json:"observation"`
}

func readRecords(t *testing.T, path string) (all []record) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(content) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		all = append(all, r)
	}
	return all
}

// send posts with a request id and says what came back; a status of 0 means that the client had left.
func send(ctx context.Context, url, id, body string, timeoutMS int) (status int, a answer) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/ranking", strings.NewReader(body))
	if err != nil {
		return 0, a
	}
	req.Header.Set("X-Request-ID", id)
	if timeoutMS > 0 {
		req.Header.Set("X-Request-Timeout-Ms", fmt.Sprint(timeoutMS))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, a
	}
	defer resp.Body.Close()
	_ = json.NewDecoder(resp.Body).Decode(&a)
	a.header = resp.Header
	return resp.StatusCode, a
}

// Real processes under load, with requests of every fate: one record for each id, its clocks nested, its scores those of the answer.
func TestEveryRequestIsAccountedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	s := start(t, defaultModel(t), []string{"--records", path, "--max-in-flight", "6"})
	long := body("minilm-l6-rerank", "tea", []string{strings.Repeat("steep the leaves below the boil ", 200)}, "NONE")
	many := body("minilm-l6-rerank", "tea", strings.Fields(strings.Repeat("leaf ", 200)), "END")
	const clients, each = 8, 25
	var mu sync.Mutex
	scores := make(map[string]answer)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for j := range each {
				id := fmt.Sprintf("c%d-%d", i, j)
				ctx, leave := context.WithCancel(t.Context())
				switch j % 5 {
				case 0:
					send(ctx, s.URL, id, long, 0)
				case 1:
					send(ctx, s.URL, id, many, 1)
				case 2:
					time.AfterFunc(3*time.Millisecond, leave)
					send(ctx, s.URL, id, many, 0)
				default:
					if status, a := send(ctx, s.URL, id, firstRequest, 0); status == http.StatusOK {
						mu.Lock()
						scores[id] = a
						mu.Unlock()
					}
				}
				leave()
			}
		})
	}
	wg.Wait()
	s.Proxy.Stop(20 * time.Second)
	seen, outcomes := make(map[string]bool), make(map[string]int)
	for _, r := range readRecords(t, path) {
		if seen[r.ID] {
			t.Errorf("%s has two records", r.ID)
		}
		seen[r.ID] = true
		outcomes[r.Outcome]++
		if r.Timing.IPC != nil && (r.Timing.Queue+r.Timing.Call > *r.Timing.IPC || *r.Timing.IPC > r.Timing.Handler) {
			t.Errorf("clocks are not nested: %+v with ipc %d", r, *r.Timing.IPC)
		}
		for _, ranking := range scores[r.ID].Rankings {
			if r.Observation.Scores[ranking.Index] != ranking.Logit {
				t.Errorf("%s: passage %d scored %v in the answer, %v in the record", r.ID, ranking.Index, ranking.Logit, r.Observation.Scores[ranking.Index])
			}
		}
	}
	t.Log(outcomes)
	for id := range scores {
		if !seen[id] {
			t.Errorf("%s was answered and has no record", id)
		}
	}
	// A client that leaves before its request has arrived sent none.
	if least := clients * each * 4 / 5; len(seen) < least {
		t.Errorf("%d records, want at least %d", len(seen), least)
	}
	for _, outcome := range []string{"ok", "input_too_long", "deadline_exceeded"} {
		if outcomes[outcome] == 0 {
			t.Errorf("the load has met no %s", outcome)
		}
	}
}

// kill -9 in the middle of writing: every line that is there is whole, and the next proxy goes on behind it.
func TestRecordsSurviveAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	s := start(t, []string{"--task", "null"}, []string{"--records", path})
	model := servedModel(t, s.URL)
	request := body(model, "tea", strings.Fields(strings.Repeat("leaf ", 100)), "END")
	var answered sync.Map
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := 0; ctx.Err() == nil; j++ {
				id := fmt.Sprintf("k%d-%d", i, j)
				if status, _ := send(ctx, s.URL, id, request, 0); status == http.StatusOK {
					answered.Store(id, true)
				}
			}
		})
	}
	time.Sleep(time.Second)
	s.Proxy.Kill()
	stop()
	wg.Wait()
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	ready, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.WaitReady(ready); err != nil {
		t.Fatal(err)
	}
	send(t.Context(), s.URL, "after", request, 0)
	s.Proxy.Stop(20 * time.Second)
	seen := make(map[string]bool)
	for _, r := range readRecords(t, path) {
		seen[r.ID] = true
	}
	missing, total := 0, 0
	answered.Range(func(id, _ any) bool {
		total++
		if !seen[id.(string)] {
			missing++
		}
		return true
	})
	t.Logf("%d answered, %d of them without a record", total, missing)
	if !seen["after"] || total == 0 || missing > total/2 {
		t.Errorf("%d of %d answered requests have no record; after the restart: %v", missing, total, seen["after"])
	}
}

// SIGHUP lets somebody move the file away under load: nothing is lost between the two.
func TestRecordsAreReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	s := start(t, []string{"--task", "null"}, []string{"--records", path})
	request := body(servedModel(t, s.URL), "tea", []string{"leaf"}, "END")
	const before, after = 50, 50
	for i := range before {
		send(t.Context(), s.URL, fmt.Sprintf("b%d", i), request, 0)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := s.Proxy.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for i := range after {
		send(t.Context(), s.URL, fmt.Sprintf("a%d", i), request, 0)
	}
	s.Proxy.Stop(20 * time.Second)
	moved, current := readRecords(t, path+".moved"), readRecords(t, path)
	if len(moved)+len(current) != before+after || len(moved) == 0 || len(current) == 0 {
		t.Fatalf("%d and %d records, want %d in all", len(moved), len(current), before+after)
	}
	// The summary reads both.
	output, err := exec.Command(s.Config.ProxyProgram, "records", "summary", "--json", path, path+".moved").Output()
	if err != nil || !bytes.Contains(output, []byte(fmt.Sprintf(`"records": %d`, before+after))) {
		t.Fatalf("summary: %v\n%s", err, output)
	}
}

func servedModel(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list.Data) == 0 {
		t.Fatalf("models: %v", err)
	}
	return list.Data[0].ID
}
