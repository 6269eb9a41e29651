package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/records"
)

// maxBodyLimit keeps every decoded body within one ipc frame of 32 MiB: a text is never longer than its JSON.
const maxBodyLimit = 31 << 20

// maxPassagesLimit is that of ipc/PROTOCOL.md, section 3.
const maxPassagesLimit = 16384

// maxSocketPath is what fits into a sockaddr_un.
const maxSocketPath = 107

func (c *Config) mistakes() []error {
	var found []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			found = append(found, fmt.Errorf(format, args...))
		}
	}
	_, port, err := net.SplitHostPort(c.Listen)
	check(err == nil && port != "", "--listen: %q is not host:port", c.Listen)
	_, port, err = net.SplitHostPort(c.AdminListen)
	check(c.AdminListen == "" || err == nil && port != "", "--admin-listen: %q is not host:port", c.AdminListen)
	check((c.TLSCert == "") == (c.TLSKey == ""), "--tls-cert and --tls-key: one is of no use without the other")
	for _, origin := range c.CORSOrigins {
		check(origin == "*" || isOrigin(origin), "--cors-origin: %q is not scheme://host[:port]", origin)
	}
	check(len(c.TaskSockets) > 0, "--task-socket: at least one is needed")
	for _, path := range c.TaskSockets {
		check(path != "" && path != "@" && len(path) <= maxSocketPath, "--task-socket: %q must have 1 to %d bytes", path, maxSocketPath)
		_, err := filepath.Match(path, "")
		check(err == nil, "--task-socket: %q is not a pattern that can be read", path)
	}
	modes := []dialect.DefaultModel{dialect.DefaultModelNull, dialect.DefaultModelAlways, dialect.DefaultModelNever}
	check(slices.Contains(modes, dialect.DefaultModel(c.DefaultModel)), "--default-model: %q must be one of %v", c.DefaultModel, modes)
	check(slices.Contains([]records.Full{records.Block, records.Drop}, records.Full(c.RecordsFull)),
		"--records-full: %q must be block or drop", c.RecordsFull)
	check(c.RecordsMaxBytes >= 0, "--records-max-bytes: %d must not be negative", c.RecordsMaxBytes)
	check(c.OTLPEndpoint == "" || isHTTP(c.OTLPEndpoint), "--otlp-endpoint: %q is not an http or https URL", c.OTLPEndpoint)
	_, err = zerolog.ParseLevel(c.LogLevel)
	check(err == nil && c.LogLevel != "", "--log-level: %q is not a level", c.LogLevel)

	for _, number := range []struct {
		flag              string
		value, least, max int
	}{
		{"max-passages", c.MaxPassages, 1, maxPassagesLimit},
		{"split-passages", c.SplitPassages, 0, maxPassagesLimit},
		{"max-passage-bytes", c.MaxPassageBytes, 0, maxBodyLimit},
		{"max-body-bytes", c.MaxBodyBytes, 1, maxBodyLimit},
		{"max-bodies-bytes", c.MaxBodiesBytes, 1, 1 << 40},
		{"max-header-bytes", c.MaxHeaderBytes, 1 << 10, 1 << 20},
		{"max-connections", c.MaxConnections, 1, 1 << 20},
		{"max-in-flight", c.MaxInFlight, 1, 1 << 20},
		{"log-sample", c.LogSample, 0, 1 << 30},
		{"records-queue-bytes", c.RecordsQueueBytes, 1, 1 << 40},
		{"records-keep", c.RecordsKeep, 1, 1000},
	} {
		check(number.least <= number.value && number.value <= number.max,
			"--%s: %d must be %d to %d", number.flag, number.value, number.least, number.max)
	}
	for _, duration := range []struct {
		flag         string
		value, least time.Duration
	}{
		{"request-timeout", c.RequestTimeout, time.Millisecond},
		{"read-timeout", c.ReadTimeout, time.Millisecond},
		{"write-timeout", c.WriteTimeout, time.Millisecond},
		{"idle-timeout", c.IdleTimeout, time.Millisecond},
		{"ping-interval", c.PingInterval, time.Millisecond},
		{"ping-timeout", c.PingTimeout, time.Millisecond},
		{"mute-timeout", c.MuteTimeout, time.Millisecond},
		{"stall-timeout", c.StallTimeout, time.Millisecond},
		{"drain-delay", c.DrainDelay, 0},
		{"drain-timeout", c.DrainTimeout, time.Millisecond},
	} {
		check(duration.least <= duration.value && duration.value <= 24*time.Hour,
			"--%s: %v must be %v to 24h", duration.flag, duration.value, duration.least)
	}
	return found
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// isOrigin tells whether a browser would send s, letter by letter, as an Origin.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && s == strings.ToLower(u.Scheme+"://"+u.Host)
}
