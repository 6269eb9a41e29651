package server

import (
	"errors"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/ranking"
	"trtmc-ranking-proxy/proxy/records"
	"trtmc-ranking-proxy/proxy/telemetry"
	"trtmc-ranking-proxy/proxy/tracing"
)

// exchange is one request and its answer, with what is learnt on the way for counters and logs.
type exchange struct {
	ctx   *fasthttp.RequestCtx
	id    string
	start time.Time // the request was complete
	route *route

	traceparent string        // as it came, empty if it came with none
	span        *tracing.Span // nil unless traces are exported

	decode  time.Duration    // time to decode the body
	request *ranking.Request // nil until decoded
	result  ranking.Result   // Scores is nil unless scored
	timing  dialect.Timing   // as told to the client
	err     *ranking.Error   // nil unless failed

	// What the end of the request needs when ctx serves the next one already.
	inFlight  int64
	bodyBytes int
	status    int
	warmup    bool
	record    records.Record
	next      *exchange // on the same connection, answered and not yet written
}

// handle takes a request from fasthttp. Nothing of ctx may be kept beyond it.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	x := &exchange{ctx: ctx, id: requestID(ctx), start: time.Now(), route: s.unknown, inFlight: s.Metrics.InFlight.Load()}
	defer s.finish(x)
	route, err := s.find(ctx)
	x.route = route
	if err == nil {
		err = route.handle(x)
	}
	if err != nil {
		x.fail(err)
	}
}

// keptBodyBytes is the largest body buffer that fasthttp may keep for a connection's next request; else each connection would hold
// memory for the largest body it ever carried.
const keptBodyBytes = 256 << 10

// finish is the end of every request's handling, a panic included: the error is rendered and the outcome counted. What can only be
// told once the answer is on its way comes later, in settle.
func (s *Server) finish(x *exchange) {
	if cause := recover(); cause != nil {
		s.Metrics.Panics.Inc()
		s.Log.Error().Str("request_id", x.id).Interface("panic", cause).Bytes("stack", debug.Stack()).Msg("a request panicked")
		x.err = &ranking.Error{Kind: ranking.InternalError, Reason: "panic", Message: "an internal error of the proxy"}
	}
	var id [128]byte
	x.ctx.Response.Header.SetCanonical(requestIDHeader, append(id[:0], x.id...))
	if x.err != nil {
		x.writeError()
		s.Metrics.Rejected(x.err)
	}
	x.route.counters.Count(x.outcome())
	x.bodyBytes, x.status, x.warmup = len(x.ctx.Request.Body()), x.ctx.Response.StatusCode(), warmup(&x.ctx.Request.Header)
	x.ctx.Request.ReleaseBody(keptBodyBytes)
	conn, ok := clientConn(x.ctx).(*conn)
	x.ctx = nil
	if ok {
		conn.answered()
		conn.answers.add(x)
	} else {
		s.settle(x, time.Now(), true)
	}
}

func (x *exchange) fail(err error) {
	if !errors.As(err, &x.err) {
		x.err = &ranking.Error{Kind: ranking.InternalError, Reason: "error", Message: "an internal error of the proxy", Cause: err}
	}
}

func (x *exchange) outcome() ranking.Kind {
	if x.err != nil {
		return x.err.Kind
	}
	return telemetry.OK
}

// scratch holds buffers for rendering; the response keeps a copy.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// writeJSON answers with what render appends.
func (x *exchange) writeJSON(render func(dst []byte) []byte) {
	buffer := scratch.Get().(*[]byte)
	*buffer = render((*buffer)[:0])
	x.ctx.SetContentType("application/json")
	x.ctx.SetBody(*buffer)
	scratch.Put(buffer)
}

func (x *exchange) writeError() {
	x.ctx.SetStatusCode(x.route.dialect.Status(x.err))
	if x.err.RetryAfter > 0 {
		seconds := int(max(1, (x.err.RetryAfter+time.Second-1)/time.Second))
		x.ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, strconv.Itoa(seconds))
	}
	x.writeJSON(func(dst []byte) []byte { return x.route.dialect.AppendError(dst, x.err, x.id) })
}

// log writes a line for each failure, for one success in LogSample, and for the request that --debug-request names.
func (s *Server) log(x *exchange, took time.Duration) {
	event := s.event(x)
	if event == nil {
		return
	}
	event.Str("request_id", x.id).Str("route", x.route.path).Int("status", x.status).
		Str("outcome", string(x.outcome())).Dur("handler_ms", took)
	if x.err != nil {
		event.Str("reason", x.err.Reason)
		if x.err.Kind.Status() >= 500 && x.err.Reason != ranking.ByTask { // its words may quote the client's; its own log has what may be told
			event.Str("error", x.err.Message).Str("detail", x.err.Detail).AnErr("cause", x.err.Cause)
		}
	}
	if x.request != nil {
		event.Int("passages", len(x.request.Passages)).Int("body_bytes", x.bodyBytes).Dur("decode_ms", x.decode)
	}
	if x.traceparent != "" {
		event.Str("traceparent", x.traceparent)
	}
	if x.result.Scores != nil {
		logResult(event, &x.result)
	}
	event.Msg("request")
}

func logResult(event *zerolog.Event, r *ranking.Result) {
	if tokens, counted := r.Tokens(); counted {
		event.Uint64("tokens", tokens).Uint32("truncated", r.Truncated)
	}
	event.Dur("ipc_ms", r.RoundTrip).Uint64("queue_us", r.QueueUS).Uint64("tokenize_us", r.TokenizeUS).
		Uint64("public_task_call_wall_us", r.PublicTaskCallWallUS).Uint32("batches", r.Batches)
}

// event chooses the level; nil means no line.
func (s *Server) event(x *exchange) *zerolog.Event {
	switch {
	case s.Config.DebugRequest != "" && x.id == s.Config.DebugRequest:
		return s.Log.Log()
	case x.err == nil:
		return s.successEvent(x)
	case x.err.Reason == "not_ready": // the change itself was logged; its probes need not be
		return s.Log.Debug()
	case x.err.Kind.Status() >= 500:
		return s.Log.Error()
	}
	return s.Log.Warn()
}

// successEvent samples rankings; probes and scrapes appear only at debug level.
func (s *Server) successEvent(x *exchange) *zerolog.Event {
	sample := uint64(s.Config.LogSample)
	if x.result.Scores != nil && sample > 0 && s.good.Add(1)%sample == 0 {
		return s.Log.Info()
	}
	return s.Log.Debug()
}
