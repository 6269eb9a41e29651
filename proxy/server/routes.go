package server

import (
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/ranking"
	"trtmc-ranking-proxy/proxy/telemetry"
)

// route is one path with the one method it takes; GET includes HEAD.
type route struct {
	path     string // as a metric label and in logs; a segment in braces stands for any
	method   string
	dialect  dialect.Dialect // shapes errors, and for ranking routes everything
	handle   func(x *exchange) error
	admin    bool // belongs to the admin listener, if there is one
	counters *telemetry.Route
}

func (s *Server) addRoutes() {
	s.routes = make(map[string]*route)
	for _, d := range s.Dialects {
		for _, path := range d.Paths() {
			s.addRoute(&route{path: path, method: fasthttp.MethodPost, dialect: d, handle: s.rank}, d.Name())
		}
	}
	for _, r := range []route{
		{path: "/v1/models", handle: s.models},
		{path: "/v1/metadata", handle: s.metadata},
		{path: "/v1/serving/info", handle: s.servingInfo},
		{path: "/info", handle: s.teiInfo, dialect: dialect.TEI{}},
		{path: "/openapi.json", handle: s.openAPI},
		{path: "/v1/health/live", handle: s.live, admin: true},
		{path: "/v1/health/ready", handle: s.ready, admin: true},
		{path: "/health/live", handle: s.live, admin: true},
		{path: "/health/ready", handle: s.ready, admin: true},
		{path: "/health", handle: s.teiHealth, admin: true, dialect: dialect.TEI{}},
		{path: "/metrics", handle: s.metrics, admin: true},
		{path: "/v1/metrics", handle: s.metrics, admin: true},
	} {
		s.addPage(r)
	}
	if s.Config.Page {
		s.addTryPage()
	}
	s.unknown, s.preflight = s.pseudoRoute("unknown"), s.pseudoRoute("preflight")
}

// addPage adds a GET route, which has the shape of the first dialect unless it names one.
func (s *Server) addPage(r route) {
	r.method = fasthttp.MethodGet
	if r.dialect == nil {
		r.dialect = s.Dialects[0]
	}
	s.addRoute(&r, "")
}

// pseudoRoute is for requests that belong to no path.
func (s *Server) pseudoRoute(name string) *route {
	return &route{
		path: name, dialect: s.Dialects[0], counters: s.Metrics.Route(name, ""),
		handle: func(*exchange) error { return nil },
	}
}

func (s *Server) addRoute(r *route, dialectName string) {
	r.counters = s.Metrics.Route(r.path, dialectName)
	s.routes[r.path] = r
	if strings.Contains(r.path, "{") {
		s.patterns = append(s.patterns, r)
	}
}

// lookup returns the route of a path, nil if there is none.
func (s *Server) lookup(path []byte) *route {
	if r, found := s.routes[string(path)]; found {
		return r
	}
	for _, r := range s.patterns {
		if r.model(string(path)) != "" {
			return r
		}
	}
	return nil
}

// model is what path has in place of the segments in braces, which follow each other in every pattern. It is empty if path does not
// match, and for routes without such segments.
func (r *route) model(path string) string {
	open, end := strings.Index(r.path, "{"), strings.LastIndex(r.path, "}")
	if open < 0 {
		return ""
	}
	name, found := strings.CutPrefix(path, r.path[:open])
	name, closed := strings.CutSuffix(name, r.path[end+1:])
	parts := strings.Split(name, "/")
	if !found || !closed || slices.Contains(parts, "") || len(parts) != 1+strings.Count(r.path[open:end], "/") {
		return ""
	}
	return name
}

// find returns the route of a request. With an error the route still says in which shape to answer.
func (s *Server) find(ctx *fasthttp.RequestCtx) (*route, error) {
	allowedOrigin := s.allowOrigin(ctx)
	r := s.lookup(ctx.Path())
	if r == nil || s.Config.AdminListen != "" && r.admin != onAdminListener(ctx) {
		return s.unknown, &ranking.Error{
			Kind: ranking.NotFound, Reason: "path", Message: "there is nothing at this path", Detail: "see /openapi.json",
		}
	}
	if method := string(ctx.Method()); method == r.method || method == fasthttp.MethodHead && r.method == fasthttp.MethodGet {
		return r, nil
	}
	if allowedOrigin && isPreflight(ctx) {
		answerPreflight(ctx, r)
		return s.preflight, nil
	}
	ctx.Response.Header.Set(fasthttp.HeaderAllow, r.allow())
	return r, &ranking.Error{
		Kind: ranking.MethodNotAllowed, Reason: "method", Message: "this path does not take that method", Detail: "it takes " + r.allow(),
	}
}

// recorded tells whether requests leave a record: those to rank, and what reached no route. Probes, scrapes, discovery and preflights
// leave none.
func (s *Server) recorded(r *route) bool { return r.method == fasthttp.MethodPost || r == s.unknown }

// dialectName is empty where the dialect only shapes errors.
func (r *route) dialectName() string {
	if r.method != fasthttp.MethodPost {
		return ""
	}
	return r.dialect.Name()
}

func onAdminListener(ctx *fasthttp.RequestCtx) bool {
	conn, ok := clientConn(ctx).(*conn)
	return ok && conn.listener.admin
}

func (r *route) allow() string {
	if r.method == fasthttp.MethodGet {
		return "GET, HEAD"
	}
	return r.method
}
