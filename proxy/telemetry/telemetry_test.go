package telemetry

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

func TestWrite(t *testing.T) {
	m := New("1.2.3")
	route := m.Route("/v1/ranking", "nim")
	route.Count(OK)
	route.Handled(3 * time.Millisecond)
	route.Count(ranking.ServerBusy)
	route.Handled(time.Millisecond)
	m.Rejected(&ranking.Error{Kind: ranking.ServerBusy, Reason: "in_flight"})
	m.InFlight.Add(2)
	m.TaskUp(func() bool { return false })
	m.Scored(&ranking.Result{
		Scores: &ipc.Scores{HasTokens: true, PairTokens: []uint32{4, 6}, Truncated: 1, QueueUS: 1000, PublicTaskCallWallUS: 2000},
		Order:  []int32{1, 0}, RoundTrip: 4 * time.Millisecond,
	})
	m.Scored(&ranking.Result{Scores: &ipc.Scores{}, Order: []int32{0}})
	var page bytes.Buffer
	m.Write(&page)
	for _, line := range []string{
		`ranking_proxy_build_info{version="1.2.3",goversion="` + runtime.Version() + `"} 1`,
		"# TYPE ranking_proxy_requests_total counter",
		`ranking_proxy_requests_total{route="/v1/ranking",dialect="nim",outcome="ok"} 1`,
		`ranking_proxy_requests_total{route="/v1/ranking",dialect="nim",outcome="server_busy"} 1`,
		`ranking_proxy_requests_total{route="/v1/ranking",dialect="nim",outcome="client_closed"} 0`,
		`ranking_proxy_rejections_total{kind="server_busy",reason="in_flight"} 1`,
		"# TYPE ranking_proxy_handler_seconds histogram",
		`ranking_proxy_handler_seconds_count{route="/v1/ranking"} 2`,
		"ranking_proxy_requests_in_flight 2", "ranking_proxy_task_up 0",
		"ranking_proxy_passages_total 3", "ranking_proxy_tokens_total 10", "ranking_proxy_truncated_pairs_total 1",
		"ranking_task_queue_seconds_sum 0.001", "ranking_task_public_task_call_wall_seconds_sum 0.002",
		`ranking_proxy_ipc_round_trip_seconds_bucket{le="0.005"} 2`,
	} {
		if !strings.Contains(page.String(), line+"\n") {
			t.Errorf("lacks %q", line)
		}
	}
	if t.Failed() {
		t.Log(page.String())
	}
}

// All that the metrics cost a request that is scored. They cannot be turned off, so this stands for the comparison with a proxy without them.
func BenchmarkRequest(b *testing.B) {
	m := New("bench")
	route := m.Route("/v1/ranking", "nim")
	result := &ranking.Result{
		Scores: &ipc.Scores{HasTokens: true, PairTokens: []uint32{61, 61, 61, 61}, QueueUS: 10, TokenizeUS: 20, PublicTaskCallWallUS: 200},
		Order:  []int32{0, 1, 2, 3}, RoundTrip: 300 * time.Microsecond,
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.InFlight.Add(1)
			m.Scored(result)
			route.Count(OK)
			route.Handled(400 * time.Microsecond)
			m.InFlight.Add(-1)
		}
	})
}
