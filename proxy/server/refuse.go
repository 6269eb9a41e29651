package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/proxy/framing"
	"trtmc-ranking-proxy/proxy/ranking"
)

// refuseUnparsed answers what fasthttp could not read as a request; the connection is closed afterwards. The parser's own words
// may quote raw headers, so they go nowhere.
func (s *Server) refuseUnparsed(ctx *fasthttp.RequestCtx, err error) {
	s.refuse(ctx, s.unparsed(err, refusal(ctx.Conn())))
}

// refusal is why a connection is not read on, nil if it is. fasthttp's errors do not always wrap it.
func refusal(c net.Conn) error {
	if checked, ok := c.(interface{ Refusal() error }); ok {
		return checked.Refusal()
	}
	return nil
}

// refuse ends a request that never reaches a handler, and with it the connection.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, err *ranking.Error) {
	if conn, ok := clientConn(ctx).(*conn); ok {
		conn.linger.Store(true)
	}
	s.finish(&exchange{ctx: ctx, id: requestID(ctx), start: time.Now(), route: s.unknown, err: err})
}

func (s *Server) unparsed(err, refusal error) *ranking.Error {
	var small *fasthttp.ErrSmallBuffer
	var network *net.OpError
	var full *ranking.Error
	var ambiguous *framing.Error
	switch {
	case errors.As(refusal, &full):
		return full
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return tooLarge(s.Config.MaxBodyBytes)
	case errors.As(err, &small):
		return &ranking.Error{
			Kind: ranking.HeadersTooLarge, Reason: "head_bytes",
			Message: fmt.Sprintf("the head of the request is larger than %d bytes", s.Config.MaxHeaderBytes),
		}
	case errors.As(err, &network) && network.Timeout():
		return &ranking.Error{Kind: ranking.RequestTimeout, Reason: "slow_client", Message: "the request did not arrive in time"}
	case errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF):
		return &ranking.Error{Kind: ranking.ClientClosed, Reason: "disconnect", Message: "the connection ended within the request"}
	case errors.As(refusal, &ambiguous):
		return ranking.Invalid("ambiguous_framing", "two readers could take this HTTP request to end in different places", ambiguous.Rule)
	}
	return ranking.Invalid("bad_http", "this is not a well-formed HTTP request", "")
}

func tooLarge(limit int) *ranking.Error {
	return &ranking.Error{
		Kind: ranking.PayloadTooLarge, Reason: "body_bytes", Message: fmt.Sprintf("the body is larger than %d bytes", limit),
	}
}
