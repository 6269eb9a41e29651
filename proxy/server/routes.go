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
	counters *telemetry.Route
}

func (s *Server) addRoutes() {
	s.routes = make(map[string]*route)
	for _, d := range s.Dialects {
		for _, path := range d.Paths() {
			s.addRoute(&route{path: path, method: fasthttp.MethodPost, dialect: d, handle: s.rank}, d.Name())
		}
	}
	for path, handle := range map[string]func(*exchange) error{
		"/v1/models":       s.models,
		"/v1/metadata":     s.metadata,
		"/v1/serving/info": s.servingInfo,
		"/v1/health/live":  s.live,
		"/v1/health/ready": s.ready,
		"/health/live":     s.live,
		"/health/ready":    s.ready,
		"/openapi.json":    s.openAPI,
		"/metrics":         s.metrics,
		"/v1/metrics":      s.metrics,
	} {
		s.addRoute(&route{path: path, method: fasthttp.MethodGet, dialect: s.Dialects[0], handle: handle}, "")
	}
	for path, handle := range map[string]func(*exchange) error{"/info": s.teiInfo, "/health": s.teiHealth} {
		s.addRoute(&route{path: path, method: fasthttp.MethodGet, dialect: dialect.TEI{}, handle: handle}, "")
	}
	s.unknown = &route{path: "unknown", dialect: s.Dialects[0]}
	s.unknown.counters = s.Metrics.Route(s.unknown.path, "")
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
	r := s.lookup(ctx.Path())
	if r == nil {
		return s.unknown, &ranking.Error{
			Kind: ranking.NotFound, Reason: "path", Message: "there is nothing at this path", Detail: "see /openapi.json",
		}
	}
	if method := string(ctx.Method()); method == r.method || method == fasthttp.MethodHead && r.method == fasthttp.MethodGet {
		return r, nil
	}
	ctx.Response.Header.Set(fasthttp.HeaderAllow, r.allow())
	return r, &ranking.Error{
		Kind: ranking.MethodNotAllowed, Reason: "method", Message: "this path does not take that method", Detail: "it takes " + r.allow(),
	}
}

// recorded tells whether requests leave a record: those to rank, and what reached no route. Probes, scrapes and discovery leave none.
func (r *route) recorded() bool { return r.method != fasthttp.MethodGet }

// dialectName is empty where the dialect only shapes errors.
func (r *route) dialectName() string {
	if r.method != fasthttp.MethodPost {
		return ""
	}
	return r.dialect.Name()
}

func (r *route) allow() string {
	if r.method == fasthttp.MethodGet {
		return "GET, HEAD"
	}
	return r.method
}
