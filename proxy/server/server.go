// Package server is the HTTP side: connections, routes, limits, deadlines, and one place where every request ends.
//
// A request goes through handle: route, then the route's handler, then finish, which writes an error if there was one and counts.
// When the answer has gone to the socket comes settle, which logs and records. Handlers return errors of package ranking; only finish
// and the parser's error handler turn them into bytes.
package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/apikey"
	"trtmc-ranking-proxy/proxy/config"
	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/disconnect"
	"trtmc-ranking-proxy/proxy/framing"
	"trtmc-ranking-proxy/proxy/ranking"
	"trtmc-ranking-proxy/proxy/records"
	"trtmc-ranking-proxy/proxy/telemetry"
	"trtmc-ranking-proxy/proxy/tracing"
)

// Backend is what the server asks of the Task's side besides ranking.
type Backend interface {
	ranking.Backend
	// Ready tells whether a Task would answer now, and if not, why.
	Ready() (ready bool, why string)
}

// Options of a Server. All but Records and Tracer are required.
type Options struct {
	Config   *config.Config
	Backend  Backend
	Dialects []dialect.Dialect // the first one's error shape serves the routes without a dialect
	Metrics  *telemetry.Metrics
	Records  *records.Writer // nil: none are kept
	Tracer   *tracing.Tracer // nil: none are exported
	Log      zerolog.Logger
	Version  string

	Keys *apikey.Keys // of which ranking requests must have one; nil: no key is asked for
	TLS  *tls.Config  // of the main listener; nil: plain HTTP
}

// Server serves HTTP until it is drained.
type Server struct {
	Options
	ranker   *ranking.Ranker
	routes   map[string]*route
	patterns []*route // those whose path holds segments in braces

	unknown, preflight *route

	fast     *fasthttp.Server
	watcher  *disconnect.Watcher
	open     connections
	bodies   atomic.Int64 // bytes that large bodies hold; see hold
	draining atomic.Bool
	good     atomic.Uint64 // successful requests, for sampling the log
}

// New builds a Server; Serve starts it.
func New(o Options) (*Server, error) {
	watcher, err := disconnect.NewWatcher()
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, watcher: watcher}
	s.ranker = ranking.New(o.Backend, ranking.Limits{Passages: o.Config.MaxPassages, PassageBytes: o.Config.MaxPassageBytes}, o.Config.ServedModelNames)
	s.addRoutes()
	s.fast = s.newFastHTTP()
	o.Metrics.TaskUp(func() bool { ready, _ := o.Backend.Ready(); return ready })
	return s, nil
}

func (s *Server) newFastHTTP() *fasthttp.Server {
	return &fasthttp.Server{
		Handler:                      s.handle,
		ErrorHandler:                 s.refuseUnparsed,
		ExpectHandler:                s.expect,
		Name:                         "ranking-proxy",
		Concurrency:                  2 * s.Config.MaxConnections, // ours comes first, and answers in JSON
		ReadBufferSize:               s.Config.MaxHeaderBytes,
		MaxRequestBodySize:           s.Config.MaxBodyBytes,
		ReadTimeout:                  s.Config.ReadTimeout,
		WriteTimeout:                 s.Config.WriteTimeout,
		IdleTimeout:                  s.Config.IdleTimeout,
		CloseOnShutdown:              true,
		DisablePreParseMultipartForm: true,
		Logger:                       noLog{},
	}
}

// Serve accepts connections from ln until Drain; then it returns nil.
func (s *Server) Serve(ln net.Listener) error {
	var bounded net.Listener = &listener{Listener: ln, server: s}
	if s.TLS != nil {
		bounded = tls.NewListener(bounded, s.TLS)
	}
	return s.fast.Serve(framing.Listener(bounded, hold))
}

// ServeAdmin is Serve for the health and metrics routes of --admin-listen, in plain HTTP.
func (s *Server) ServeAdmin(ln net.Listener) error {
	return s.fast.Serve(framing.Listener(&listener{Listener: ln, server: s, admin: true}, hold))
}

// arrivalGrace is the time that a request still being sent has to arrive once the server has stopped accepting.
const arrivalGrace = 3 * time.Second

// Drain turns readiness off, waits for balancers to notice, then stops accepting and waits for accepted requests until ctx ends.
// Idle connections are closed at once, those with half a request after arrivalGrace.
func (s *Server) Drain(ctx context.Context) error {
	s.draining.Store(true)
	select {
	case <-time.After(s.Config.DrainDelay):
	case <-ctx.Done():
	}
	s.open.cutOff(time.Now().Add(arrivalGrace))
	if err := s.fast.ShutdownWithContext(ctx); err != nil {
		return fmt.Errorf("%d requests were still in progress: %w", s.Metrics.InFlight.Load(), err)
	}
	if err := s.open.wait(ctx); err != nil {
		return fmt.Errorf("connections are still being closed: %w", err)
	}
	s.watcher.Close()
	return nil
}

// Ready is the answer of the readiness routes.
func (s *Server) Ready() (ready bool, why string) {
	if s.draining.Load() {
		return false, "the proxy is shutting down"
	}
	return s.Backend.Ready()
}

// identity is that of the Task last spoken to, or an error that says there has been none.
func (s *Server) identity() (*ipc.Welcome, error) {
	if task := s.Backend.Identity(); task != nil {
		return task, nil
	}
	_, why := s.Backend.Ready()
	return nil, ranking.Unavailable(why, nil)
}

// noLog drops what fasthttp has to say: its messages quote raw headers, and refuseUnparsed reports the same failures without.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
