// Package tracing exports a span for each ranking request to an OpenTelemetry collector, with child spans for decoding, the ipc round
// trip and, inside it, the Task's queue and call.
//
// The children are made when the request is over, from the times that its record holds too. The Task shares no clock with the
// proxy: its queue and call have their exact lengths, and are centred in the round trip.
package tracing

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"trtmc-ranking-proxy/proxy/records"
)

// Tracer makes spans. A nil Tracer makes none, at no cost.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Start exports to the OTLP/HTTP endpoint, a URL with its path. The SDK's own OTEL_ variables apply, such as OTEL_TRACES_SAMPLER and
// OTEL_EXPORTER_OTLP_HEADERS. A collector that is away costs spans, never a request.
func Start(endpoint, version string, log zerolog.Logger) (*Tracer, error) {
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn().Err(err).Msg("tracing") }))
	who := resource.NewSchemaless(attribute.String("service.name", "ranking-proxy"), attribute.String("service.version", version))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(who))
	return &Tracer{provider: provider, tracer: provider.Tracer("trtmc-ranking-proxy")}, nil
}

// Close exports what is left.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Span is a request in progress. A nil Span does nothing.
type Span struct {
	tracer trace.Tracer
	ctx    context.Context // carries the span
	span   trace.Span
}

const header = "traceparent"

var traceContext = propagation.TraceContext{}

// Begin starts the span of a request that came with a traceparent, or with none.
func (t *Tracer) Begin(traceparent string, start time.Time) *Span {
	if t == nil {
		return nil
	}
	ctx := traceContext.Extract(context.Background(), propagation.MapCarrier{header: traceparent})
	ctx, span := t.tracer.Start(ctx, "ranking", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(start))
	return &Span{t.tracer, ctx, span}
}

// Traceparent is what to pass on: that of the span, or without one what came in.
func (s *Span) Traceparent(incoming string) string {
	if s == nil {
		return incoming
	}
	carrier := propagation.MapCarrier{}
	traceContext.Inject(s.ctx, carrier)
	return carrier[header]
}

// End ends the span with what is known of the request.
func (s *Span) End(r *records.Record) {
	if s == nil {
		return
	}
	if s.span.IsRecording() {
		s.describe(r)
		s.addParts(r)
	}
	s.span.End(trace.WithTimestamp(r.Time.Add(r.Handler)))
}

func (s *Span) describe(r *records.Record) {
	s.span.SetAttributes(
		attribute.String("http.request.method", "POST"), attribute.String("http.route", r.Route), attribute.Int("http.response.status_code", r.Status),
		attribute.String("ranking.request_id", r.ID), attribute.String("ranking.dialect", r.Dialect), attribute.String("ranking.outcome", string(r.Outcome)),
	)
	if r.Task != nil {
		s.span.SetAttributes(attribute.String("ranking.model", r.Task.Model))
	}
	if r.Request != nil {
		s.span.SetAttributes(attribute.Int("ranking.passages", len(r.Request.Passages)))
	}
	if r.Reason != "" {
		s.span.SetAttributes(attribute.String("error.type", string(r.Outcome)), attribute.String("ranking.reason", r.Reason))
	}
	if r.Status >= 500 {
		s.span.SetStatus(codes.Error, string(r.Outcome))
	}
}

func (s *Span) addParts(r *records.Record) {
	if r.Decode > 0 {
		s.child(s.ctx, "decode", r.Time, r.Decode)
	}
	if r.Result.RoundTrip == 0 {
		return
	}
	ipc := s.child(s.ctx, "ipc", r.Result.Asked, r.Result.RoundTrip, trace.WithSpanKind(trace.SpanKindClient))
	scores := r.Result.Scores
	if scores == nil {
		return
	}
	queue, call := micros(scores.QueueUS), micros(scores.PublicTaskCallWallUS)
	start := r.Result.Asked.Add((r.Result.RoundTrip - queue - call) / 2)
	s.child(ipc, "queue", start, queue, trace.WithAttributes(attribute.Int64("ranking.tokenize_us", int64(scores.TokenizeUS))))
	tokens, _ := r.Result.Tokens()
	s.child(ipc, "public_task_call_wall", start.Add(queue), call, trace.WithAttributes(
		attribute.Int("ranking.batches", int(scores.Batches)), attribute.Int64("ranking.tokens", int64(tokens)), attribute.Int64("ranking.truncated", int64(scores.Truncated))))
}

// child makes a finished span and returns its context.
func (s *Span) child(parent context.Context, name string, start time.Time, took time.Duration, options ...trace.SpanStartOption) context.Context {
	ctx, span := s.tracer.Start(parent, name, append(options, trace.WithTimestamp(start))...)
	span.End(trace.WithTimestamp(start.Add(took)))
	return ctx
}

func micros(us uint64) time.Duration { return time.Duration(us) * time.Microsecond }
