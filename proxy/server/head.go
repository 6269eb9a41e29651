package server

import (
	"bytes"
	"mime"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid" // the usual one; saves us a random source of our own
	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/proxy/ranking"
)

// timeoutHeader lets a client ask for less than --request-timeout.
const timeoutHeader = "X-Request-Timeout-Ms"

// requestIDHeader is written as TRTMC writes it, which is not what fasthttp makes of it.
var requestIDHeader = []byte("X-Request-ID")

// requestID is the client's X-Request-ID if it is well formed, so that it can stand in logs and frames, else a new one.
func requestID(ctx *fasthttp.RequestCtx) string {
	if id := ctx.Request.Header.Peek("X-Request-ID"); validRequestID(id) {
		return string(id)
	}
	return uuid.NewString()
}

// validRequestID is ^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$, TRTMC's rule.
func validRequestID(id []byte) bool {
	if len(id) == 0 || len(id) > 128 || !alphanumeric(id[0]) {
		return false
	}
	for _, c := range id[1:] {
		if !alphanumeric(c) && c != '.' && c != '_' && c != ':' && c != '-' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// checkMedia refuses bodies that are not plain UTF-8 JSON. No content type, and the form type that `curl -d` sends unasked, say
// nothing about the body; it will be read as JSON.
func checkMedia(header *fasthttp.RequestHeader) error {
	if coding := header.ContentEncoding(); len(coding) > 0 && !bytes.EqualFold(coding, []byte("identity")) {
		return unsupported("content_encoding", "compressed bodies are not supported")
	}
	contentType := header.ContentType()
	if len(contentType) == 0 || string(contentType) == "application/json" {
		return nil
	}
	media, parameters, err := mime.ParseMediaType(string(contentType))
	if err != nil || media != "application/json" && media != "application/x-www-form-urlencoded" {
		return unsupported("content_type", "the content type must be application/json")
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return unsupported("charset", "the charset must be utf-8")
	}
	return nil
}

func unsupported(reason, message string) *ranking.Error {
	return &ranking.Error{Kind: ranking.UnsupportedMediaType, Reason: reason, Message: message}
}

// timeout is the time a request has: what the client asks for, at most limit.
func timeout(header *fasthttp.RequestHeader, limit time.Duration) (time.Duration, error) {
	value := header.Peek(timeoutHeader)
	if value == nil {
		return limit, nil
	}
	ms, err := strconv.ParseUint(string(value), 10, 31)
	if err != nil || ms == 0 {
		return 0, ranking.Invalid("bad_timeout", timeoutHeader+" must be a positive whole number of milliseconds", "")
	}
	return min(limit, time.Duration(ms)*time.Millisecond), nil
}

// warmup tells whether the client says that the request only warms something up. It is served like any other; its record says so.
func warmup(header *fasthttp.RequestHeader) bool { return string(header.Peek("X-Warmup")) == "true" }

// traceparent returns the W3C trace context if it is well formed, else nothing: a bad one is to be ignored.
func traceparent(header *fasthttp.RequestHeader) string {
	value := header.Peek("Traceparent")
	if len(value) != 55 || value[2] != '-' || value[35] != '-' || value[52] != '-' || string(value[:2]) == "ff" {
		return ""
	}
	for _, c := range value {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || c == '-') {
			return ""
		}
	}
	return string(value)
}
