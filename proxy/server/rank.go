package server

import (
	"net"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/ranking"
)

// rank handles the ranking routes of every dialect.
func (s *Server) rank(x *exchange) error {
	x.traceparent = traceparent(&x.ctx.Request.Header)
	x.span = s.Tracer.Begin(x.traceparent, x.start)
	defer s.Metrics.InFlight.Add(-1)
	x.inFlight = s.Metrics.InFlight.Add(1)
	if x.inFlight > int64(s.Config.MaxInFlight) {
		return &ranking.Error{
			Kind: ranking.ServerBusy, Reason: "in_flight", RetryAfter: time.Second, Message: "too many requests are in progress",
		}
	}
	if s.Keys != nil {
		if err := s.Keys.Check(x.ctx.Request.Header.Peek(fasthttp.HeaderAuthorization)); err != nil {
			x.ctx.Response.Header.Set(fasthttp.HeaderWWWAuthenticate, "Bearer")
			return err
		}
	}
	call, err := s.decode(x)
	if err != nil {
		return err
	}
	limit, err := timeout(&x.ctx.Request.Header, s.Config.RequestTimeout)
	if err != nil {
		return err
	}
	if x.result, err = s.score(clientConn(x.ctx), x.request, limit); err != nil {
		return err
	}
	s.Metrics.Scored(&x.result)
	s.render(x, call)
	return nil
}

func (s *Server) decode(x *exchange) (dialect.Call, error) {
	header := &x.ctx.Request.Header
	if err := checkMedia(header); err != nil {
		return nil, err
	}
	start := time.Now()
	call, err := x.route.dialect.Decode(x.ctx.PostBody())
	x.decode = time.Since(start)
	if err != nil {
		return nil, err
	}
	x.request = call.Request()
	if err := s.nameModel(x); err != nil {
		return nil, err
	}
	x.request.ID, x.request.Dialect, x.request.Traceparent = x.id, x.route.dialect.Name(), x.span.Traceparent(x.traceparent)
	return call, nil
}

// nameModel takes in the model that a path names. A body may name the same or another name of it, and must if it names one.
func (s *Server) nameModel(x *exchange) error {
	named := x.route.model(string(x.ctx.Path()))
	if named == "" {
		return nil
	}
	if x.request.Model == "" {
		x.request.Model = named
		return nil
	}
	return s.ranker.CheckModel(named)
}

// watched is a connection that can tell of its client's leaving; see package disconnect.
type watched interface {
	Begin(cancel func())
	End()
}

// score ranks within limit, and no longer than the client stays.
func (s *Server) score(conn net.Conn, req *ranking.Request, limit time.Duration) (ranking.Result, error) {
	life := beginLifetime(limit)
	defer life.finish()
	if client, ok := conn.(watched); ok {
		client.Begin(life.leave)
		defer client.End()
	}
	return s.ranker.Rank(life, req)
}

// render writes the answer. The handler time in its body ends here; that in its header includes the rendering, and what is left is a copy
// into the connection's buffer.
func (s *Server) render(x *exchange, call dialect.Call) {
	start := time.Now()
	var shown *dialect.Timing
	if s.Config.Timing {
		x.timing = dialect.Timing{
			Queue:   micros(x.result.QueueUS),
			Call:    micros(x.result.PublicTaskCallWallUS),
			Handler: start.Sub(x.start),
		}
		shown = &x.timing
	}
	x.writeJSON(func(dst []byte) []byte { return call.AppendResult(dst, &x.result, shown) })
	if s.Config.Timing {
		var header [192]byte
		x.ctx.Response.Header.SetBytesV("Server-Timing", x.appendServerTiming(header[:0], time.Since(start)))
	}
}

// appendServerTiming writes the stages: queue holds tokenize, ipc holds queue and model, handler holds parse, ipc and render.
func (x *exchange) appendServerTiming(dst []byte, render time.Duration) []byte {
	dst = appendDuration(dst, "model;dur=", micros(x.result.PublicTaskCallWallUS))
	dst = appendDuration(dst, ", queue;dur=", micros(x.result.QueueUS))
	if x.result.TokenizeUS > 0 { // a Task need not tell
		dst = appendDuration(dst, ", tokenize;dur=", micros(x.result.TokenizeUS))
	}
	dst = appendDuration(dst, ", parse;dur=", x.decode)
	dst = appendDuration(dst, ", ipc;dur=", x.result.RoundTrip)
	dst = appendDuration(dst, ", render;dur=", render)
	return appendDuration(dst, ", handler;dur=", time.Since(x.start))
}

func appendDuration(dst []byte, name string, d time.Duration) []byte {
	return strconv.AppendFloat(append(dst, name...), float64(d.Microseconds())/1000, 'f', -1, 64)
}

func micros(us uint64) time.Duration { return time.Duration(us) * time.Microsecond }

// expect answers `Expect: 100-continue`: a body over the limit gets the refusal, not the invitation.
func (s *Server) expect(ctx *fasthttp.RequestCtx) int {
	if ctx.Request.Header.ContentLength() <= s.Config.MaxBodyBytes {
		return fasthttp.StatusContinue
	}
	s.refuse(ctx, tooLarge(s.Config.MaxBodyBytes))
	return fasthttp.StatusRequestEntityTooLarge
}
