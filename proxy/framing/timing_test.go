package framing

import (
	"strings"
	"testing"
)

// A request of usual size: what the check adds to each.
func BenchmarkCheck(b *testing.B) {
	request := []byte("POST /v1/ranking HTTP/1.1\r\nHost: ranking.example:8000\r\nUser-Agent: client/1.0\r\nAccept: */*\r\n" +
		"Accept-Encoding: gzip, deflate\r\nContent-Type: application/json\r\nX-Request-ID: 5f0c6a9e-6c1b-4a53-9a55-2b1f6f0f6a11\r\nContent-Length: 16384\r\n\r\n" +
		strings.Repeat("x", 16384))
	var c checker
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.check(request); err != nil {
			b.Fatal(err)
		}
	}
}
