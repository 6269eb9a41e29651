package server

import (
	"slices"

	"github.com/valyala/fasthttp"
)

// What a page of another origin may send, and read of an answer.
const (
	corsRequestHeaders = "Authorization, Content-Type, X-Request-ID, X-Request-Timeout-Ms, X-Warmup, traceparent"
	corsAnswerHeaders  = "X-Request-ID, Server-Timing, Retry-After"
	corsMaxAge         = "600"
)

// allowOrigin lets a page of a configured origin read the answer, and tells whether the request comes from one.
func (s *Server) allowOrigin(ctx *fasthttp.RequestCtx) bool {
	allowed := s.Config.CORSOrigins
	if len(allowed) == 0 {
		return false
	}
	answer, origin := &ctx.Response.Header, string(ctx.Request.Header.Peek(fasthttp.HeaderOrigin))
	if !slices.Contains(allowed, "*") {
		answer.Set(fasthttp.HeaderVary, fasthttp.HeaderOrigin)
	} else if origin != "" {
		origin = "*"
	}
	if !slices.Contains(allowed, origin) {
		return false
	}
	answer.Set(fasthttp.HeaderAccessControlAllowOrigin, origin)
	answer.Set(fasthttp.HeaderAccessControlExposeHeaders, corsAnswerHeaders)
	return true
}

// isPreflight tells whether a browser asks before it sends the request itself.
func isPreflight(ctx *fasthttp.RequestCtx) bool {
	return ctx.IsOptions() && len(ctx.Request.Header.Peek(fasthttp.HeaderAccessControlRequestMethod)) > 0
}

// answerPreflight tells such a browser what it may send to a route.
func answerPreflight(ctx *fasthttp.RequestCtx, r *route) {
	answer := &ctx.Response.Header
	answer.Set(fasthttp.HeaderAccessControlAllowMethods, r.allow())
	answer.Set(fasthttp.HeaderAccessControlAllowHeaders, corsRequestHeaders)
	answer.Set(fasthttp.HeaderAccessControlMaxAge, corsMaxAge)
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}
