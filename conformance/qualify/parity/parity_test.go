package parity

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

func TestDifference(t *testing.T) {
	native := Scored([]float32{1, 3, 2, 3})
	if fmt.Sprint(native.Order) != "[1 3 2 0]" {
		t.Fatalf("order %v", native.Order)
	}
	f := func(problem string, change func(*Answer)) {
		t.Helper()
		other := Scored([]float32{1, 3, 2, 3})
		change(&other)
		if got := Difference(&native, &other); (problem == "") != (got == "") || !strings.Contains(got, problem) {
			t.Errorf("got %q, want %q", got, problem)
		}
	}
	f("", func(*Answer) {})
	f("passage 2 has score bits", func(a *Answer) { a.Scores[2] = math.Nextafter32(a.Scores[2], 9) })
	f("passage 0 has score bits", func(a *Answer) { a.Scores[0], a.Scores[2] = a.Scores[2], a.Scores[0] })
	f("the order is", func(a *Answer) { a.Order[0], a.Order[1] = a.Order[1], a.Order[0] })
	f("3 scores", func(a *Answer) { a.Scores = a.Scores[:3] })
	f("the Task says ok", func(a *Answer) { a.Kind = "server_busy" })
	f("is status 201", func(a *Answer) { a.Status = 201 })
	zero, minus := Scored([]float32{0}), Scored([]float32{float32(math.Copysign(0, -1))})
	if Difference(&zero, &minus) == "" {
		t.Error("-0 passes for 0")
	}
}

func TestReadAnswer(t *testing.T) {
	f := func(problem string, status int, body string) {
		t.Helper()
		answer, err := ReadAnswer(status, []byte(body), 2)
		if problem == "" && err == nil && answer.Status == status {
			return
		}
		if err == nil || problem == "" || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v, want %q", body, err, problem)
		}
	}
	f("", 200, `{"rankings":[{"index":1,"logit":2.5},{"index":0,"logit":-1}]}`)
	f("", 429, `{"error":"server_busy","message":"m","detail":""}`)
	f("1 rankings for 2", 200, `{"rankings":[{"index":1,"logit":2.5}]}`)
	f("there twice", 200, `{"rankings":[{"index":1,"logit":2.5},{"index":1,"logit":-1}]}`)
	f("beyond the passages", 200, `{"rankings":[{"index":1,"logit":2.5},{"index":2,"logit":-1}]}`)
	f("read the answer", 200, `{"rankings":`)
	f("names no error", 500, `oh no`)
}

// server answers over HTTP what a Task over conn would, through change.
func server(t *testing.T, conn *ipc.Conn, change func(map[string]any)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Query    struct{ Text string }
			Passages []struct{ Text string }
			Truncate ipc.Truncate
		}
		data, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(data, &body); err != nil {
			t.Error(err)
		}
		request := Request{Query: body.Query.Text, Truncate: body.Truncate}
		for _, p := range body.Passages {
			request.Passages = append(request.Passages, p.Text)
		}
		native, err := Native(r.Context(), conn, r.Header.Get("X-Request-ID"), &request)
		if err != nil {
			t.Error(err)
			return
		}
		answer := map[string]any{"error": native.Kind, "message": "m", "detail": "d"}
		if native.Kind == OK {
			rankings := []map[string]any{}
			for _, i := range native.Order {
				rankings = append(rankings, map[string]any{"index": i, "logit": native.Scores[i]})
			}
			answer = map[string]any{"rankings": rankings}
		}
		change(answer)
		w.WriteHeader(native.Status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// tokenLimited answers as ipctest does, and refuses what the protocol refuses.
func tokenLimited(r *ipctest.Request) {
	switch {
	case len(r.Passages) == 0 || len(r.Passages) > 512:
		r.Reply(&ipc.Error{ID: r.ID, Code: ipc.CodeInvalidRequest, Message: "count"})
	case r.Truncate == ipc.TruncateNone && len(strings.Fields(r.Query+" "+r.Passages[len(r.Passages)-1])) > 509:
		r.Reply(&ipc.Error{ID: r.ID, Code: ipc.CodeInputTooLong, Message: "long"})
	default:
		ipctest.Answer(r)
	}
}

func TestBothWays(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: tokenLimited})
	conn, err := ipc.Dial(t.Context(), task.Address, "parity-test")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	requests := append(Edges(conn.Welcome()), Rejected(conn.Welcome(), false)...)
	f := func(want bool, change func(map[string]any)) {
		t.Helper()
		url, different := server(t, conn, change), 0
		for i := range requests {
			native, err := Native(t.Context(), conn, "native", &requests[i])
			if err != nil {
				t.Fatal(err)
			}
			overHTTP, err := OverHTTP(t.Context(), url, "m", "http", &requests[i])
			if err != nil {
				t.Fatal(err)
			}
			if difference := Difference(native, overHTTP); difference != "" {
				different++
			}
		}
		if (different == 0) != want {
			t.Errorf("%d of %d differ, want none: %t", different, len(requests), want)
		}
	}
	f(true, func(map[string]any) {})
	f(false, func(answer map[string]any) { // a bit
		if rankings, ok := answer["rankings"].([]map[string]any); ok {
			rankings[0]["logit"] = math.Nextafter32(rankings[0]["logit"].(float32), 100)
		}
	})
	f(false, func(answer map[string]any) { // a kind
		if answer["error"] == "input_too_long" {
			answer["error"] = "invalid_request"
		}
	})
}
