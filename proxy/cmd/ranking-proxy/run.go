package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/proxy/backend"
	"trtmc-ranking-proxy/proxy/config"
	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/records"
	"trtmc-ranking-proxy/proxy/server"
	"trtmc-ranking-proxy/proxy/telemetry"
	"trtmc-ranking-proxy/proxy/tracing"
)

// run serves until SIGTERM or SIGINT, then drains. A second signal ends the process at once.
func run(c *config.Config) error {
	log := newLog(c.LogLevel)
	metrics := telemetry.New(version)
	stopTask, err := startTask(c, log, metrics)
	if err != nil {
		return err
	}
	defer stopTask()
	tasks := backend.Start(backend.Options{
		Sockets: c.TaskSockets, Client: "ranking-proxy/" + version,
		PingInterval: c.PingInterval, PingTimeout: c.PingTimeout, MuteTimeout: c.MuteTimeout, StallTimeout: c.StallTimeout,
		SplitPassages: c.SplitPassages,
		Log:           log, Metrics: metrics,
	})
	defer tasks.Close()
	recorder, err := openRecords(c, log, metrics)
	if err != nil {
		return err
	}
	defer closeRecords(recorder, log)
	tracer, err := startTracing(c, log)
	if err != nil {
		return err
	}
	defer closeTracing(tracer, log)
	keys, certificate, err := openSecrets(c, log)
	if err != nil {
		return err
	}
	s, err := server.New(server.Options{
		Config: c, Backend: tasks, Metrics: metrics, Records: recorder, Tracer: tracer, Log: log, Version: version,
		Dialects: dialect.All(dialect.NIM{DefaultModel: dialect.DefaultModel(c.DefaultModel), TopN: c.NIMTopN}),
		Keys:     keys, TLS: certificate,
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	if c.AdminListen != "" {
		if _, err := listen(c.AdminListen, "admin_address", s.ServeAdmin, ended, log); err != nil {
			return err
		}
	}
	address, err := listen(c.Listen, "address", s.Serve, ended, log)
	if err != nil {
		return err
	}
	if c.Supervise {
		go showExample(os.Stdout, c, address, tasks)
	}
	return serve(s, ended, c, log)
}

// listen has serve accept connections in the background; its end goes to ended.
func listen(address, field string, serve func(net.Listener) error, ended chan<- error, log zerolog.Logger) (net.Addr, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	log.Info().Str(field, listener.Addr().String()).Str("version", version).Msg("serving HTTP")
	go func() { ended <- serve(listener) }()
	return listener.Addr(), nil
}

func serve(s *server.Server, ended <-chan error, c *config.Config, log zerolog.Logger) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	select {
	case err := <-ended:
		return err
	case received := <-signals:
		signal.Stop(signals) // the next one has its default effect
		log.Info().Str("signal", received.String()).Msg("draining")
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.DrainDelay+c.DrainTimeout)
	defer cancel()
	return s.Drain(ctx)
}

// openRecords returns nil if no records are wanted.
func openRecords(c *config.Config, log zerolog.Logger, metrics *telemetry.Metrics) (*records.Writer, error) {
	if c.Records == "" {
		return nil, nil
	}
	w, err := records.Open(records.Options{
		Path: c.Records, Full: records.Full(c.RecordsFull), Texts: c.RecordsTexts, MaxBytes: c.RecordsMaxBytes, Keep: c.RecordsKeep,
		Queue: c.RecordsQueueBytes,
		Log:   log, Metrics: metrics,
	})
	if err != nil {
		return nil, err
	}
	onHangUp(func() { w.Reopen() })
	return w, nil
}

func closeRecords(w *records.Writer, log zerolog.Logger) {
	if w == nil {
		return
	}
	if err := w.Close(); err != nil {
		log.Error().Err(err).Msg("cannot close the records")
	}
}

// startTracing returns nil if no traces are wanted.
func startTracing(c *config.Config, log zerolog.Logger) (*tracing.Tracer, error) {
	if c.OTLPEndpoint == "" {
		return nil, nil
	}
	return tracing.Start(c.OTLPEndpoint, version, log)
}

// exportGrace is the time for the last spans to reach the collector.
const exportGrace = 5 * time.Second

func closeTracing(t *tracing.Tracer, log zerolog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), exportGrace)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		log.Warn().Err(err).Msg("cannot export the last traces")
	}
}

func newLog(level string) zerolog.Logger {
	parsed, _ := zerolog.ParseLevel(level)                    // config has checked it
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00" // as the Task writes it
	zerolog.TimestampFunc = func() time.Time { return time.Now().UTC() }
	return zerolog.New(os.Stderr).Level(parsed).With().Timestamp().Str("process", "proxy").Logger()
}
