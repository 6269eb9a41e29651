package interleave

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/nullserver"
	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/bench/workloads"
)

func nullServer(t *testing.T, name string) measure.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = nullserver.Serve(l) }()
	t.Cleanup(func() { l.Close(); <-ended })
	e, err := load.NewEndpoint("unix:"+path, "nim", "", "m")
	if err != nil {
		t.Fatal(err)
	}
	return measure.Server{Name: name, Endpoint: e}
}

func TestServersTakeTurns(t *testing.T) {
	w, err := workloads.Load("W3")
	if err != nil {
		t.Fatal(err)
	}
	servers := []measure.Server{nullServer(t, "A"), nullServer(t, "B")}
	var order []string
	settings := measure.Settings{Window: 400 * time.Millisecond, Timeout: 30 * time.Second}
	results, err := Run(context.Background(), servers, Cells(w, 1, 2), 2, settings, func(r report.Result) { order = append(order, r.Server) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []string{"A", "B", "A", "B", "A", "B", "A", "B"}) {
		t.Errorf("order %v", order)
	}
	for i := range results {
		if r := &results[i]; r.Counts[load.OK] == 0 || r.Errors() > 0 || r.Digest != w.Digest || r.Concurrency != 1+i/4 {
			t.Errorf("result %d: %+v", i, *r)
		}
	}
	medians := report.Medians(results)
	if len(medians) != 4 || medians[0].Rounds != 2 {
		t.Errorf("medians %+v", medians)
	}
}

func TestParseCell(t *testing.T) {
	f := func(text string, ok bool) {
		t.Helper()
		if c, err := ParseCell(text); (err == nil) != ok || ok && (c.Workload.Name != "W1" || c.Load.Concurrency != 16) {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	f("W1:16", true)
	f("W1:0", false)
	f("W1", false)
	f("W1:many", false)
	f("W77:1", false)
}

func TestHeadOfLineGivesBothTimes(t *testing.T) {
	server := nullServer(t, "null")
	h, err := measure.MeasureHeadOfLine(context.Background(), server, 30*time.Second)
	if err != nil || h.Alone <= 0 || h.Behind <= 0 {
		t.Errorf("%+v, %v", h, err)
	}
}
