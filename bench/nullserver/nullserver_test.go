package nullserver

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

func TestAnswerHasAnEntryForEachPassage(t *testing.T) {
	l := fasthttputil.NewInmemoryListener()
	defer l.Close()
	go func() { _ = Serve(l) }()
	client := fasthttp.Client{Dial: func(string) (net.Conn, error) { return l.Dial() }}
	f := func(passages, status int) {
		t.Helper()
		body := `{"query":{"text":"q"},"passages":[` + strings.TrimSuffix(strings.Repeat(`{"text":"p"},`, passages), ",") + `]}`
		var request fasthttp.Request
		var response fasthttp.Response
		request.SetRequestURI("http://null/v1/ranking")
		request.Header.SetMethod("POST")
		request.SetBodyString(body)
		if err := client.Do(&request, &response); err != nil {
			t.Fatal(err)
		}
		var got struct{ Rankings []struct{ Index int } }
		if err := json.Unmarshal(response.Body(), &got); err != nil || response.StatusCode() != status || status == 200 && len(got.Rankings) != passages {
			t.Errorf("%d passages: status %d, %d entries, %v", passages, response.StatusCode(), len(got.Rankings), err)
		}
	}
	f(1, 200)
	f(4, 200)
	f(512, 200)
	f(0, 400)
	f(513, 400)
}
