package config

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func parse(args string, env map[string]string) (*Config, error) {
	lookup := func(name string) (string, bool) { value, found := env[name]; return value, found }
	return Parse(strings.Fields(args), lookup, io.Discard)
}

func TestDefaults(t *testing.T) {
	c, err := parse("", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Listen: ":8000", Page: true, TaskSockets: []string{"/run/ranking/task.sock"}, SplitPassages: 16, ServedModelNames: nil, DefaultModel: "null", Timing: true,
		MaxPassages: 512, MaxBodyBytes: 16 << 20, MaxHeaderBytes: 8 << 10, MaxConnections: 4096, MaxInFlight: 1024,
		RequestTimeout: 2 * time.Minute, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second,
		MaxBodiesBytes: 64 << 20,
		PingInterval:   250 * time.Millisecond, PingTimeout: 500 * time.Millisecond, MuteTimeout: 2 * time.Second, StallTimeout: 30 * time.Second,
		DrainDelay: time.Second, DrainTimeout: 30 * time.Second, LogLevel: "info", LogSample: 100,
		RecordsFull: "block", RecordsKeep: 5, RecordsQueueBytes: 32 << 20,
	}
	if len(c.ServedModelNames)+len(c.CORSOrigins) == 0 {
		c.ServedModelNames, c.CORSOrigins = nil, nil
	}
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("got  %+v\nwant %+v", c, want)
	}
}

func TestFlagsWinOverEnvironment(t *testing.T) {
	c, err := parse("--max-passages=7 --timing=false", map[string]string{
		"RANKING_PROXY_MAX_PASSAGES": "8", "RANKING_PROXY_TASK_SOCKET": "/a,@b", "RANKING_PROXY_REQUEST_TIMEOUT": "5s",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.MaxPassages != 7 || c.Timing || c.RequestTimeout != 5*time.Second || !reflect.DeepEqual(c.TaskSockets, []string{"/a", "@b"}) {
		t.Fatalf("got %+v", c)
	}
}

func TestSupervisedCommand(t *testing.T) {
	c, err := parse("--supervise --listen=:1 -- ranking-task --listen x", nil)
	if err != nil || !reflect.DeepEqual(c.TaskCommand, []string{"ranking-task", "--listen", "x"}) || c.Listen != ":1" {
		t.Fatalf("got %+v, %v", c, err)
	}
}

func TestMistakes(t *testing.T) {
	f := func(args string, env map[string]string, mentions ...string) {
		t.Helper()
		_, err := parse(args, env)
		if err == nil {
			t.Fatalf("%s: accepted", args)
		}
		for _, mention := range mentions {
			if !strings.Contains(err.Error(), mention) {
				t.Fatalf("%s: %q does not mention %s", args, err, mention)
			}
		}
	}
	f("--listen=8000", nil, "--listen")
	f("--admin-listen=9000", nil, "--admin-listen")
	f("--tls-cert=a.pem", nil, "--tls-key")
	f("--tls-key=a.pem", nil, "--tls-cert")
	for _, origin := range []string{"app.example", "https://app.example/", "https://App.example", "https://app.example/x", "null"} {
		f("--cors-origin=https://good.example:8443,"+origin, nil, "--cors-origin: \""+origin)
	}
	f("--task-socket=", nil, "--task-socket")
	f("--task-socket="+strings.Repeat("x", 108), nil, "--task-socket")
	f("--default-model=maybe", nil, "--default-model")
	f("--max-passages=0", nil, "--max-passages")
	f("--max-passages=16385", nil, "--max-passages")
	f("--max-body-bytes=33554432", nil, "--max-body-bytes")
	f("--ping-interval=0s", nil, "--ping-interval")
	f("--drain-delay=-1s", nil, "--drain-delay")
	f("--log-level=loud", nil, "--log-level")
	f("--records-full=wait", nil, "--records-full")
	f("--records-max-bytes=-1", nil, "--records-max-bytes")
	f("--otlp-endpoint=collector:4318", nil, "--otlp-endpoint")
	f("--records-keep=0", nil, "--records-keep")
	f("--no-such-flag", nil, "no-such-flag")
	f("stray", nil, "stray")
	f("-- ranking-task", nil, "ranking-task")
	f("--supervise", nil, "--supervise")
	f("--supervise stray -- ranking-task", nil, "stray")
	f("--max-passages=many --idle-timeout=3 --log-level=loud", map[string]string{"RANKING_PROXY_MAX_IN_FLIGHT": "x"},
		"--max-passages", "--idle-timeout", "--log-level", "RANKING_PROXY_MAX_IN_FLIGHT")
}

func TestHelpShowsEveryFlagAndDefault(t *testing.T) {
	var help bytes.Buffer
	if _, err := Parse([]string{"--help"}, func(string) (string, bool) { return "", false }, &help); !errors.Is(err, ErrHelp) {
		t.Fatalf("got %v", err)
	}
	text := strings.Join(strings.Fields(help.String()), " ")
	(&Config{}).flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(text, "--"+f.Name+" ") {
			t.Errorf("no --%s", f.Name)
		}
		if f.DefValue != "" && !strings.Contains(text, "default "+f.DefValue) && !strings.Contains(text, `default "`+f.DefValue+`"`) {
			t.Errorf("no default %s of --%s", f.DefValue, f.Name)
		}
	})
}
