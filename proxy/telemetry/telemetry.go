// Package telemetry holds every metric of the proxy. Label values come from closed sets only (routes, dialects, error kinds,
// reasons named in our code): no word of a client ever becomes a label.
package telemetry

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"trtmc-ranking-proxy/proxy/ranking"
)

// seconds are the bucket bounds of every duration: 100 us to 60 s.
var seconds = []float64{
	.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60,
}

// Metrics is the registry of one proxy. It is safe for concurrent use.
type Metrics struct {
	set   *metrics.Set
	tasks tasks

	InFlight            atomic.Int64 // ranking requests being handled
	Connections         atomic.Int64 // open HTTP connections
	ConnectionsRejected *metrics.Counter
	Panics              *metrics.Counter
	AnswersUnsent       *metrics.Counter // answers that could not be written, their client having gone
	Reconnects          *metrics.Counter // connections to the Task made after the first
	TaskStarts          *metrics.Counter // of the supervised Task
	RequestsSplit       *metrics.Counter // across Tasks

	RecordsWritten *metrics.Counter
	RecordsDropped *metrics.Counter // for lack of room in the queue
	RecordsFailed  *metrics.Counter // the file could not be written
	RecordsQueued  atomic.Int64

	passages, tokens, padding, truncated  *metrics.Counter
	roundTrip, queue, tokenize, taskCalls *metrics.PrometheusHistogram
}

// enableTypes makes the library write HELP and TYPE, which is a global switch of it.
var enableTypes = sync.OnceFunc(func() { metrics.ExposeMetadata(true) })

// New returns an empty registry.
func New(version string) *Metrics {
	enableTypes()
	set := metrics.NewSet()
	histogram := func(name string) *metrics.PrometheusHistogram { return set.NewPrometheusHistogramExt(name, seconds) }
	m := &Metrics{
		set:                 set,
		ConnectionsRejected: set.NewCounter("ranking_proxy_connections_rejected_total"),
		Panics:              set.NewCounter("ranking_proxy_panics_total"),
		AnswersUnsent:       set.NewCounter("ranking_proxy_answers_unsent_total"),
		Reconnects:          set.NewCounter("ranking_proxy_task_reconnects_total"),
		TaskStarts:          set.NewCounter("ranking_proxy_task_starts_total"),
		RequestsSplit:       set.NewCounter("ranking_proxy_requests_split_total"),
		RecordsWritten:      set.NewCounter("ranking_proxy_records_written_total"),
		RecordsDropped:      set.NewCounter("ranking_proxy_records_dropped_total"),
		RecordsFailed:       set.NewCounter("ranking_proxy_records_failed_total"),
		passages:            set.NewCounter("ranking_proxy_passages_total"),
		tokens:              set.NewCounter("ranking_proxy_tokens_total"),
		padding:             set.NewCounter("ranking_proxy_padding_tokens_total"),
		truncated:           set.NewCounter("ranking_proxy_truncated_pairs_total"),
		roundTrip:           histogram("ranking_proxy_ipc_round_trip_seconds"),
		queue:               histogram("ranking_task_queue_seconds"),
		tokenize:            histogram("ranking_task_tokenize_seconds"),
		taskCalls:           histogram("ranking_task_public_task_call_wall_seconds"),
	}
	set.NewGauge("ranking_proxy_requests_in_flight", func() float64 { return float64(m.InFlight.Load()) })
	set.NewGauge("ranking_proxy_records_queued", func() float64 { return float64(m.RecordsQueued.Load()) })
	set.NewGauge("ranking_proxy_connections", func() float64 { return float64(m.Connections.Load()) })
	set.NewGauge(fmt.Sprintf("ranking_proxy_build_info{version=%q,goversion=%q}", version, runtime.Version()), func() float64 { return 1 })
	return m
}

// TaskUp registers the gauge that is 1 while a Task is ready.
func (m *Metrics) TaskUp(ready func() bool) {
	m.set.NewGauge("ranking_proxy_task_up", func() float64 { return one(ready()) })
}

// Scored counts what one answer of the Task cost.
func (m *Metrics) Scored(result *ranking.Result) {
	m.passages.Add(len(result.Order))
	if tokens, counted := result.Tokens(); counted {
		m.tokens.AddInt64(int64(tokens))
		m.padding.AddInt64(int64(result.PaddingTokens))
		m.truncated.AddInt64(int64(result.Truncated))
	}
	m.roundTrip.Update(result.RoundTrip.Seconds())
	m.queue.Update(micros(result.QueueUS))
	m.tokenize.Update(micros(result.TokenizeUS))
	m.taskCalls.Update(micros(result.PublicTaskCallWallUS))
}

// Rejected counts one failed request by the check that failed.
func (m *Metrics) Rejected(err *ranking.Error) {
	m.set.GetOrCreateCounter(fmt.Sprintf("ranking_proxy_rejections_total{kind=%q,reason=%q}", err.Kind, err.Reason)).Inc()
}

// Route holds the counters of one route, made beforehand so that a request formats no label.
type Route struct {
	outcomes map[ranking.Kind]*metrics.Counter
	handler  *metrics.PrometheusHistogram // nil for routes without a dialect, whose times interest nobody
}

// OK is the outcome of a request that did not fail.
const OK ranking.Kind = "ok"

// Route returns the counters of a route. dialect is empty for routes that speak none.
func (m *Metrics) Route(path, dialect string) *Route {
	r := &Route{outcomes: make(map[ranking.Kind]*metrics.Counter)}
	if dialect != "" {
		r.handler = m.set.GetOrCreatePrometheusHistogramExt(fmt.Sprintf("ranking_proxy_handler_seconds{route=%q}", path), seconds)
	}
	for _, outcome := range append(ranking.Kinds(), OK) {
		name := fmt.Sprintf("ranking_proxy_requests_total{route=%q,dialect=%q,outcome=%q}", path, dialect, outcome)
		r.outcomes[outcome] = m.set.GetOrCreateCounter(name)
	}
	return r
}

// Count counts one request by its outcome, before its answer is written, so that a client finds itself counted.
func (r *Route) Count(outcome ranking.Kind) { r.outcomes[outcome].Inc() }

// Handled takes the handler time of one request, once its answer is written.
func (r *Route) Handled(handler time.Duration) {
	if r.handler != nil {
		r.handler.Update(handler.Seconds())
	}
}

func micros(us uint64) float64 { return float64(us) / 1e6 }
