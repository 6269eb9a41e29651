package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// reference is a small honest NIM ranking server without a model. A test breaks it in one place.
type reference struct {
	score     func(query, passage string, place int) float64
	arrange   func([]refEntry) []refEntry                            // after sorting
	render    func(answer map[string]any) map[string]any             // before encoding
	refusal   func(status int, message string) (int, string, []byte) // status, content type, body
	lenient   bool                                                   // unknown fields are ignored
	repairs   bool                                                   // invalid UTF-8 and lone surrogates are replaced
	id        func(given string) string
	passesMax int
}

type refEntry struct {
	Index int     `json:"index"`
	Logit float32 `json:"logit"`
}

type refRequest struct {
	Model    *string                   `json:"model"`
	Query    *struct{ Text *string }   `json:"query"`
	Passages []*struct{ Text *string } `json:"passages"`
	Truncate string                    `json:"truncate"`
}

func honest() *reference {
	return &reference{
		score:     func(query, passage string, _ int) float64 { return overlap(query, passage) },
		arrange:   func(e []refEntry) []refEntry { return e },
		render:    func(a map[string]any) map[string]any { return a },
		refusal:   refusal,
		id:        func(given string) string { return given },
		passesMax: 512,
	}
}

func refusal(status int, message string) (int, string, []byte) {
	body, _ := json.Marshal(map[string]string{"error": "invalid_request", "message": message, "detail": ""})
	return status, "application/json", body
}

// overlap is a logit of shared words, told apart by shared letter pairs.
func overlap(query, passage string) float64 {
	words := func(s string) []string { return strings.Fields(strings.Map(letters, strings.ToLower(s))) }
	pairs := func(s string) (p []string) {
		for i := 1; i < len(s); i++ {
			p = append(p, s[i-1:i+1])
		}
		return p
	}
	return 8*share(words(query), words(passage)) - 4 + share(pairs(query), pairs(passage))/3 + 1/float64(len(passage)+7)
}

func letters(r rune) rune {
	if strings.ContainsRune(",.?", r) {
		return ' '
	}
	return r
}

func share(wanted, found []string) float64 {
	shared := 0
	for _, w := range wanted {
		if slices.Contains(found, w) {
			shared++
		}
	}
	return float64(shared) / float64(len(wanted)+1)
}

func (s *reference) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Request-Id", s.id(r.Header.Get("X-Request-Id")))
	if r.ContentLength > 1<<25 {
		w.Header().Set("Connection", "close")
		s.refuse(w, 413, "too large")
		return
	}
	body, _ := io.ReadAll(r.Body)
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"ref","object":"model"}]}`)
	case "GET /v1/health/live", "GET /v1/health/ready":
		state := r.URL.Path[len("/v1/health/"):]
		fmt.Fprintf(w, `{"object":"health.response","status":%q,"message":"fine"}`, state)
	case "GET /v1/metadata":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	case "GET /openapi.json":
		fmt.Fprint(w, `{"openapi":"3.1.0","paths":{"/v1/ranking":{}}}`)
	case "POST /v1/ranking":
		s.rank(w, body)
	default:
		s.refuse(w, map[bool]int{true: 405, false: 404}[r.URL.Path == "/v1/ranking"], "no such route")
	}
}

func (s *reference) refuse(w http.ResponseWriter, status int, message string) {
	status, kind, body := s.refusal(status, message)
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (s *reference) rank(w http.ResponseWriter, body []byte) {
	request, problem := s.parse(body)
	if problem != "" {
		s.refuse(w, 400, problem)
		return
	}
	entries := make([]refEntry, len(request.Passages))
	for i, p := range request.Passages {
		entries[i] = refEntry{i, float32(s.score(*request.Query.Text, *p.Text, i))}
	}
	slices.SortStableFunc(entries, func(a, b refEntry) int { return -compare(a.Logit, b.Logit) })
	w.Header().Set("Content-Type", "application/json")
	answer := map[string]any{"rankings": s.arrange(entries), "usage": map[string]int{"prompt_tokens": 300, "total_tokens": 300}}
	_ = json.NewEncoder(w).Encode(s.render(answer))
}

func compare(a, b float32) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

var loneSurrogate = regexp.MustCompile(`\\ud83d[^\\]|\\ud800|\\udc00`)

func (s *reference) parse(body []byte) (request refRequest, problem string) {
	if !s.repairs && (!utf8.Valid(body) || loneSurrogate.Match(body)) {
		return request, "not UTF-8"
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if !s.lenient {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(&request); err != nil {
		return request, err.Error()
	}
	return request, s.judge(&request)
}

func (s *reference) judge(r *refRequest) string {
	blank := func(t *string) bool { return t == nil || strings.TrimSpace(*t) == "" }
	switch {
	case r.Model == nil || *r.Model != "ref":
		return "unknown model"
	case r.Query == nil || blank(r.Query.Text):
		return "no query"
	case len(r.Passages) == 0 || len(r.Passages) > s.passesMax:
		return fmt.Sprintf("%d passages, at most 512", len(r.Passages))
	case !slices.Contains([]string{"", "NONE", "END"}, r.Truncate):
		return "truncate is NONE or END"
	}
	for _, p := range r.Passages {
		if p == nil || p.Text == nil {
			return "a passage without text"
		}
	}
	return ""
}

func serve(t *testing.T, handler http.Handler) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
