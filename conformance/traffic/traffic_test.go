package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// The values are those that native/tests/null/scoring_test.cpp holds the Task to.
func TestNullScore(t *testing.T) {
	f := func(query, passage string, want float32) {
		t.Helper()
		if got := NullScore(query, passage); got != want {
			t.Errorf("%q, %q: %v, not %v", query, passage, got, want)
		}
	}
	f("hello world", "d", 1.3167202472686768)
	f("", "", 3.7023377418518066)
	f("Grüße", "日本", 1.7786014080047607)
}

// server answers like a proxy before the null Task, but for what spoil does to the answer.
func server(t *testing.T, spoil func(id string, scores []float32) (status int, header string, body any)) *Crowd {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Query    text
			Passages []text
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		var scores []float32
		for _, p := range request.Passages {
			scores = append(scores, NullScore(request.Query.Text, p.Text))
		}
		status, id, answer := spoil(r.Header.Get("X-Request-ID"), scores)
		w.Header().Set("X-Request-ID", id)
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return &Crowd{URL: s.URL, Model: "m", Source: Null(5), Clients: 1, Pause: time.Millisecond}
}

type ranking struct {
	Index int     `json:"index"`
	Logit float32 `json:"logit"`
}

func ranked(scores []float32) map[string]any {
	rankings := make([]ranking, len(scores))
	for i, s := range scores {
		rankings[i] = ranking{i, s}
	}
	slices.SortStableFunc(rankings, func(a, b ranking) int { return int(math.Copysign(1, float64(b.Logit-a.Logit))) })
	return map[string]any{"rankings": rankings}
}

func TestEveryKindOfWrongAnswerIsFound(t *testing.T) {
	f := func(wrong string, spoil func(id string, scores []float32) (int, string, any)) {
		t.Helper()
		c, tally := server(t, spoil), new(Tally)
		c.ask(http.DefaultTransport, tally, "id-1", rand.New(rand.NewPCG(1, 2)))
		found := strings.Join(tally.Wrong(), "\n")
		if (wrong == "") != (found == "") || !strings.Contains(found, wrong) {
			t.Fatalf("found %q, not %q", found, wrong)
		}
	}
	f("", func(id string, s []float32) (int, string, any) { return 200, id, ranked(s) })
	f("", func(id string, s []float32) (int, string, any) {
		return 429, id, map[string]string{"error": "server_busy", "request_id": id}
	})
	f("scored", func(id string, s []float32) (int, string, any) {
		s[0] = math.Nextafter32(s[0], 100)
		return 200, id, ranked(s)
	})
	f("scored", func(id string, s []float32) (int, string, any) {
		slices.Reverse(s)
		return 200, id, ranked(s)
	})
	f("rankings of", func(id string, s []float32) (int, string, any) { return 200, id, ranked(s[1:]) })
	f("place", func(id string, s []float32) (int, string, any) {
		answer := ranked(s)
		slices.Reverse(answer["rankings"].([]ranking))
		return 200, id, answer
	})
	f("repeated", func(id string, s []float32) (int, string, any) {
		answer := ranked(s)
		answer["rankings"].([]ranking)[1].Index = answer["rankings"].([]ranking)[0].Index
		return 200, id, answer
	})
	f("request id", func(id string, s []float32) (int, string, any) { return 200, "id-2", ranked(s) })
	f("without an error", func(id string, s []float32) (int, string, any) { return 503, id, map[string]string{} })
	f("without an error", func(id string, s []float32) (int, string, any) {
		return 503, id, map[string]string{"error": "x", "request_id": "id-2"}
	})
	f("not JSON", func(id string, s []float32) (int, string, any) { return 200, id, "text" })
}

func TestAccount(t *testing.T) {
	c := server(t, func(id string, s []float32) (int, string, any) { return 200, id, ranked(s) })
	tally := new(Tally)
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	c.Run(ctx, tally)
	var ids []string
	for id := range tally.Fates() {
		ids = append(ids, id)
	}
	if len(ids) < 3 || tally.Count()[200] != len(ids) || len(tally.Wrong()) > 0 {
		t.Fatalf("%v, wrong: %v", tally.Count(), tally.Wrong())
	}
	record := func(id string, status int) string {
		return fmt.Sprintf(`{"request_id":%q,"route":"/v1/ranking","status":%d}`+"\n", id, status)
	}
	var all string
	for _, id := range ids {
		all += record(id, 200)
	}
	f := func(records string, killed []time.Time, want Account) {
		t.Helper()
		got, err := tally.Settle(strings.NewReader(records), killed)
		if err != nil {
			t.Fatal(err)
		}
		if want.Records += strings.Count(records, "\n"); *got != want || got.Balanced() != (want.Repeated+want.Unknown+want.Differing+want.Missing == 0) {
			t.Fatalf("%+v, not %+v", *got, want)
		}
	}
	f(all, nil, Account{})
	f(all+record(ids[0], 200), nil, Account{Repeated: 1})
	noise := `{"request_id":"noise","route":"unknown","status":400}` + "\n"
	f(all+noise, nil, Account{Records: -1, Others: 1})
	f(all+record("other", 200), nil, Account{Unknown: 1})
	f(all[len(record(ids[0], 200)):], nil, Account{Missing: 1})
	f(all[len(record(ids[0], 200)):], []time.Time{time.Now()}, Account{Excused: 1})
	f(all[len(record(ids[0], 200)):], []time.Time{time.Now().Add(-time.Hour)}, Account{Missing: 1})
	f(record(ids[0], 503)+all[len(record(ids[0], 200)):], nil, Account{Differing: 1})
	if _, err := tally.Settle(strings.NewReader("{\"request_id\n"), nil); err == nil {
		t.Fatal("half a record is taken for one")
	}
}
