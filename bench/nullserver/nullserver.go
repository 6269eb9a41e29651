// Package nullserver answers every ranking at once with made-up scores: the fastest server there can be, to show what the load generator can
// do, and the trivial upstream behind a reverse proxy.
package nullserver

import (
	"bytes"
	"fmt"
	"net"
	"strconv"

	"github.com/valyala/fasthttp"
)

// maxPassages is the most that an answer is prepared for.
const maxPassages = 512

// Serve answers NIM rankings on the listener until it is closed.
func Serve(l net.Listener) error {
	answers := make([][]byte, maxPassages+1)
	for n := range answers {
		answers[n] = answer(n)
	}
	server := fasthttp.Server{
		NoDefaultServerHeader: true,
		MaxRequestBodySize:    32 << 20,
		Handler: func(ctx *fasthttp.RequestCtx) {
			// The query has a text as well.
			n := bytes.Count(ctx.PostBody(), []byte(`{"text":`)) - 1
			if n < 1 || n > maxPassages {
				ctx.Error(fmt.Sprintf(`{"error":"%d passages"}`, n), fasthttp.StatusBadRequest)
				return
			}
			ctx.SetContentType("application/json")
			ctx.Response.SetBodyRaw(answers[n])
		},
	}
	if err := server.Serve(l); err != nil {
		return fmt.Errorf("serve null answers: %w", err)
	}
	return nil
}

// answer has n entries with descending scores.
func answer(n int) []byte {
	b := []byte(`{"rankings":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"logit":`...)
		b = strconv.AppendFloat(b, -float64(i)/8, 'f', -1, 32)
		b = append(b, '}')
	}
	return append(b, `],"usage":{"prompt_tokens":0,"total_tokens":0}}`...)
}
