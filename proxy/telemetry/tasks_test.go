package telemetry

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

func page(m *Metrics) string {
	var page bytes.Buffer
	m.Write(&page)
	return page.String()
}

func fullPong() *ipc.Pong {
	pong := &ipc.Pong{
		Ready: true, OldestCallMS: 1500, QueuedRequests: 1, QueuedPairs: 2, QueuedTokens: 3, QueuedTokensMax: 4, RunningBatches: 5,
		Counters: map[string]uint64{}, Gauges: map[string]uint64{},
		Histograms: map[string][]uint64{
			"batch_pairs": {0, 1, 2, 3, 4, 5, 6, 7, 8}, "batch_tokens": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
			"call_us": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
		},
	}
	for name := range counters {
		pong.Counters[name] = 30
	}
	for name := range gauges {
		pong.Gauges[name] = 7
	}
	return pong
}

func TestTaskFigures(t *testing.T) {
	m := New("1.2.3")
	a, b := m.Task("/run/a.sock"), m.Task("@b")
	a.Up(true)
	a.Met(&ipc.Welcome{Model: "m", Revision: "r", Backend: "openvino", Precision: "int8", Server: "ranking-task 1"})
	a.Heard(fullPong())
	text := page(m)
	for _, line := range []string{
		"# TYPE ranking_task_up gauge", `ranking_task_up{socket="/run/a.sock"} 1`, `ranking_task_up{socket="@b"} 0`,
		`ranking_task_info{socket="/run/a.sock",model="m",revision="r",backend="openvino",precision="int8",server="ranking-task 1"} 1`,
		`ranking_task_oldest_call_seconds{socket="/run/a.sock"} 1.5`, `ranking_task_queued_tokens{socket="/run/a.sock"} 3`,
		`ranking_task_queued_tokens_max{socket="/run/a.sock"} 4`, `ranking_task_padding_ratio{socket="/run/a.sock"} 0.5`,
		"# TYPE ranking_task_pairs_total counter", `ranking_task_pairs_total{socket="/run/a.sock"} 30`,
		"# HELP ranking_task_calls_total Task calls: batches, or runs of the model.", `ranking_task_calls_total{socket="/run/a.sock"} 30`,
		"# TYPE ranking_task_resident_bytes gauge", `ranking_task_resident_bytes{socket="/run/a.sock"} 7`,
		"# TYPE ranking_task_cpu_seconds_total counter", `ranking_task_cpu_seconds_total{socket="/run/a.sock"} 3e-05`,
		"# TYPE ranking_task_batch_pairs histogram", `ranking_task_batch_pairs_bucket{socket="/run/a.sock",le="128"} 7`,
		`ranking_task_batch_pairs_bucket{socket="/run/a.sock",le="+Inf"} 8`, `ranking_task_batch_pairs_count{socket="/run/a.sock"} 8`,
		`ranking_task_call_seconds_bucket{socket="/run/a.sock",le="0.0001"} 0`, `ranking_task_call_seconds_bucket{socket="/run/a.sock",le="2.5"} 13`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("lacks %q", line)
		}
	}
	a.Lost()
	b.Heard(&ipc.Pong{})
	if text := page(m); strings.Contains(text, `ranking_task_queued_pairs{socket="/run/a.sock"}`) || !strings.Contains(text, `ranking_task_queued_pairs{socket="@b"} 0`) {
		t.Errorf("figures of a Task that is gone, or none of the other:\n%s", text)
	}
}

// A Task that makes names up, or sends a histogram of another shape, makes no series.
func TestUnknownFiguresMakeNoSeries(t *testing.T) {
	m := New("1.2.3")
	task := m.Task("s")
	task.Heard(&ipc.Pong{})
	before := strings.Count(page(m), `socket="s"`)
	task.Heard(&ipc.Pong{
		Counters: map[string]uint64{"zebra_total": 1, "resident_bytes": 1}, Gauges: map[string]uint64{"zebra": 1, "pairs_total": 1},
		Histograms: map[string][]uint64{"zebra": {1, 2}, "batch_pairs": {1, 2}},
	})
	if after := strings.Count(page(m), `socket="s"`); after != before || strings.Contains(page(m), "zebra") {
		t.Fatalf("%d series became %d", before, after)
	}
}

// The tables are those of the protocol document, no name more and none less.
func TestTablesAreTheProtocols(t *testing.T) {
	document, err := os.ReadFile("../../ipc/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	f := func(heading string, table map[string]string) {
		t.Helper()
		_, rows, _ := strings.Cut(string(document), "| "+heading+" | meaning |\n| --- | --- |\n")
		rows, _, _ = strings.Cut(rows, "\n\n")
		var named []string
		for row := range strings.Lines(rows) {
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
				named = append(named, name[1])
			}
		}
		slices.Sort(named)
		if known := slices.Sorted(maps.Keys(table)); !slices.Equal(named, known) {
			t.Errorf("%ss: the document names %q, the table %q", heading, named, known)
		}
	}
	f("counter", counters)
	f("gauge", gauges)
}

// Every figure that the code of a Task names is in the tables.
func TestTablesKnowTheFiguresOfNative(t *testing.T) {
	named := regexp.MustCompile(`"([a-z_]+_total)"|gauges\["([a-z_]+)"\]`)
	found := 0
	err := filepath.WalkDir("../../native/src", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".cpp") && !strings.HasSuffix(path, ".h") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, match := range named.FindAllSubmatch(source, -1) {
			found++
			_, counter := counters[string(match[1])]
			_, gauge := gauges[string(match[2])]
			if !counter && !gauge {
				t.Errorf("%s names %q, which no table here knows", path, match[0])
			}
		}
		return err
	})
	if err != nil || found < 15 {
		t.Fatalf("found %d names, %v", found, err)
	}
}

// The bounds are those of the protocol document.
func TestHistogramBoundsAreTheProtocols(t *testing.T) {
	document, err := os.ReadFile("../../ipc/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range pongHistograms {
		row := regexp.MustCompile("(?m)^\\| `" + h.key + "` \\|[^|]*\\| ([0-9 ]+) \\|$").FindSubmatch(document)
		if row == nil {
			t.Fatalf("no row for %s", h.key)
		}
		bounds := strings.Fields(string(row[1]))
		if len(bounds) != len(h.bounds) {
			t.Fatalf("%s: %d bounds, want %d", h.key, len(h.bounds), len(bounds))
		}
	}
}

// What the library or this package exposes is described, or deliberately left out: nothing of ours is ever dropped for want of help.
func TestEveryFamilyOfOursHasHelp(t *testing.T) {
	m := New("1.2.3")
	m.Route("/v1/ranking", "nim")
	m.Rejected(&ranking.Error{Kind: ranking.ServerBusy, Reason: "in_flight"})
	m.TaskUp(func() bool { return true })
	task := m.Task("s")
	task.Met(&ipc.Welcome{})
	task.Heard(fullPong())
	text := page(m)
	for name := range help {
		if !strings.Contains(text, "# HELP "+name+" ") {
			t.Errorf("%s is described and never exposed", name)
		}
	}
	var raw bytes.Buffer
	m.set.WritePrometheus(&raw)
	for line := range bytes.Lines(raw.Bytes()) {
		if name, begins := bytes.CutPrefix(bytes.TrimSpace(line), []byte("# HELP ")); begins && help[string(name)] == "" {
			t.Errorf("%s has no help", name)
		}
	}
}

func BenchmarkScrape(b *testing.B) {
	m := New("1.2.3")
	for _, path := range []string{"/v1/ranking", "/v1/rerank", "/v2/rerank", "/rerank", "/v1/score", "/a", "/b", "/c", "/d", "/e", "/f"} {
		m.Route(path, "nim")
	}
	task := m.Task("s")
	task.Heard(fullPong())
	for b.Loop() {
		page(m)
	}
}
