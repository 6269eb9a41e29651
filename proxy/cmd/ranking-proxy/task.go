package main

import (
	"fmt"
	"io"
	"net"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/proxy/backend"
	"trtmc-ranking-proxy/proxy/config"
	"trtmc-ranking-proxy/proxy/supervise"
	"trtmc-ranking-proxy/proxy/telemetry"
)

// taskGrace is the time a supervised Task has to end, once the proxy has drained and nothing is in flight.
const taskGrace = 10 * time.Second

// startTask starts the Task if it is ours to supervise. The function it returns ends it.
func startTask(c *config.Config, log zerolog.Logger, metrics *telemetry.Metrics) (stop func(), err error) {
	if !c.Supervise {
		return func() {}, nil
	}
	task, err := supervise.Start(supervise.Options{Command: c.TaskCommand, Log: log, Started: metrics.TaskStarts.Inc})
	if err != nil {
		return nil, err
	}
	return func() { task.Stop(taskGrace) }, nil
}

// welcomePoll is the pause between two looks whether the Task is ready.
const welcomePoll = 50 * time.Millisecond

// showExample prints, once a Task is ready, a request to try.
func showExample(out io.Writer, c *config.Config, address net.Addr, tasks *backend.Pool) {
	for ready := false; !ready; ready, _ = tasks.Ready() {
		time.Sleep(welcomePoll)
	}
	scheme, key := "http", ""
	if c.TLSCert != "" {
		scheme = "https"
	}
	if c.APIKeyFile != "" {
		key = ` -H "Authorization: Bearer $KEY"`
	}
	fmt.Fprintf(out, `
Ready. Try:

  curl -s%s %s://%s/v1/ranking -d '{"model":"%s","query":{"text":"How do I keep bread fresh?"},"passages":[{"text":"The museum opens at nine."},{"text":"A linen bag keeps the crust crisp for two days."}]}'

Ctrl-C stops both processes.
`, key, scheme, reachable(address), tasks.Identity().Model)
}

// reachable is the address for a client on this machine.
func reachable(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		return "localhost:" + port
	}
	return address.String()
}
