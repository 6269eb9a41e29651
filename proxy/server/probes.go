package server

import (
	_ "embed"

	"trtmc-ranking-proxy/proxy/ranking"
)

//go:embed openapi.json
var openAPIDocument []byte

func (s *Server) openAPI(x *exchange) error {
	x.writeJSON(func(dst []byte) []byte { return append(dst, openAPIDocument...) })
	return nil
}

func (s *Server) metrics(x *exchange) error {
	x.ctx.SetContentType("text/plain; version=0.0.4; charset=utf-8")
	s.Metrics.Write(x.ctx)
	return nil
}

// healthResponse is the body of NIM's health routes.
type healthResponse struct {
	Object  string `json:"object"`
	Message string `json:"message"`
	Status  string `json:"status"`
}

// live says that the process serves HTTP; it says nothing of the Task.
func (s *Server) live(x *exchange) error {
	return x.marshal(healthResponse{"health.response", "Service is live.", "live"})
}

// ready says that a ranking request would be answered now.
func (s *Server) ready(x *exchange) error {
	if ready, why := s.Ready(); !ready {
		return &ranking.Error{Kind: ranking.BackendUnavailable, Reason: "not_ready", Message: "Service is not ready.", Detail: why}
	}
	return x.marshal(healthResponse{"health.response", "Service is ready.", "ready"})
}
