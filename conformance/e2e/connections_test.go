//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// metric is a value of the proxy's metrics page, -1 if it or the page is not there.
func metric(t *testing.T, s *stack.Stack, name string) float64 {
	t.Helper()
	response, err := http.Get(s.URL + "/metrics")
	if err != nil {
		return -1
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return number
		}
	}
	return -1
}

func dial(t *testing.T, s *stack.Stack) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// residentMB is the resident memory of a process.
func residentMB(t *testing.T, p *stack.Process) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB >> 10
}

// Two thousand clients that drip bytes for ever, and a hundred that ask for pages and never read them: each is closed on time, others are
// served meanwhile, and what they cost is bounded and given back.
func TestSlowClients(t *testing.T) {
	s := start(t, nullTask(), []string{"--read-timeout", "4s", "--write-timeout", "4s", "--idle-timeout", "4s"})
	served(t, s)
	before := residentMB(t, s.Proxy)
	const dripping, deaf = 2000, 100
	conns := make([]net.Conn, dripping)
	for i := range conns {
		conns[i] = dial(t, s)
		io.WriteString(conns[i], "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	}
	for range deaf {
		conn := dial(t, s)
		go io.WriteString(conn, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 5000))
	}
	eventually(t, "all connections", func() bool {
		open := metric(t, s, "ranking_proxy_connections")
		for _, conn := range conns {
			io.WriteString(conn, "x")
		}
		return open > dripping*9/10
	})
	served(t, s)
	during := residentMB(t, s.Proxy)
	eventually(t, "the end of all of them", func() bool {
		for _, conn := range conns {
			io.WriteString(conn, "x")
		}
		return metric(t, s, "ranking_proxy_connections") < 5
	})
	served(t, s)
	t.Logf("resident: %d MB before, %d MB with %d slow clients", before, during, dripping+deaf)
	if perClient := 32; during-before > perClient*(dripping+deaf)>>10 {
		t.Errorf("%d MB more for %d slow clients, over %d KB each", during-before, dripping+deaf, perClient)
	}
	// The second collection frees the buffers that are kept for new connections, and the runtime then returns them bit by bit.
	// Requests bring the collections about.
	stop := crowd(t, s, 4)
	defer stop()
	eventuallyLong(t, "resident memory as before", func() bool { return residentMB(t, s.Proxy) < before+(during-before)/2+10 })
}

// Clients who send large bodies at once get room for some and a refusal for the rest; usual requests pass, and memory stays bounded.
func TestLargeBodies(t *testing.T) {
	const clients, size = 100, 8 << 20
	s := start(t, nullTask(), nil)
	served(t, s)
	before := residentMB(t, s.Proxy)
	request := body(nullModel, "q", []string{"p"}, "END")
	head := fmt.Sprintf("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
	most := strings.Repeat(" ", size-len(request))
	finish := make(chan struct{})
	statuses := make(chan string, clients)
	for range clients {
		conn := dial(t, s)
		go func() {
			io.WriteString(conn, head)
			io.WriteString(conn, most) // fails where the proxy has refused
			<-finish
			io.WriteString(conn, request)
			line, _ := bufio.NewReader(conn).ReadString('\r')
			statuses <- line
		}()
	}
	refused := func() float64 {
		return metric(t, s, `ranking_proxy_rejections_total{kind="server_busy",reason="bodies_bytes"}`)
	}
	eventually(t, "the refusals", func() bool { return refused() >= clients-10 })
	served(t, s)
	during := residentMB(t, s.Proxy)
	t.Logf("resident: %d MB before, %d MB with %d bodies of %d MB, of which %v are refused", before, during, clients, size>>20, refused())
	if during > before+clients*size>>20/2 {
		t.Error("the bodies take more than half of what all would have")
	}
	close(finish)
	count := make(map[string]int)
	for range clients {
		count[<-statuses]++
	}
	if count["HTTP/1.1 200 OK\r"] == 0 || count["HTTP/1.1 200 OK\r"]+count["HTTP/1.1 429 Too Many Requests\r"] != clients {
		t.Errorf("answers: %v", count)
	}
	served(t, s)
}

func eventuallyLong(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 5 minutes", what)
		}
	}
}

// A client that shuts down its sending side has left, as for net/http and nginx; the connection ends and nothing stays behind.
func TestHalfClosedClient(t *testing.T) {
	s := start(t, nullTask("--null-delay-ms", "300"), nil)
	request := body(nullModel, "q", []string{"p"}, "END")
	for range 20 {
		conn := dial(t, s)
		fmt.Fprintf(conn, "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(request), request)
		conn.(*net.TCPConn).CloseWrite()
	}
	eventually(t, "no connections but this one", func() bool { return metric(t, s, "ranking_proxy_connections") <= 1 })
	eventually(t, "nothing in flight", func() bool { return metric(t, s, "ranking_proxy_requests_in_flight") == 0 })
	served(t, s)
}
