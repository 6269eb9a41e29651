package ipc

import "testing"

func BenchmarkEncodeRank100(b *testing.B) {
	r := rankOfSize(100)
	buf, err := AppendFrame(nil, 1, r)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if buf, err = AppendFrame(buf[:0], 1, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeRank100(b *testing.B)   { benchmarkDecode(b, rankOfSize(100)) }
func BenchmarkDecodeScores100(b *testing.B) { benchmarkDecode(b, scoresOfSize(100)) }

func benchmarkDecode(b *testing.B, m Message) {
	raw, err := AppendFrame(nil, 1, m)
	if err != nil {
		b.Fatal(err)
	}
	f := Frame{Exchange: 1, Type: m.Type(), Payload: raw[headerSize:]}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Decode(); err != nil {
			b.Fatal(err)
		}
	}
}
