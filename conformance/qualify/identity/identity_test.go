package identity

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"trtmc-ranking-proxy/ipc"
)

func TestBundleDigest(t *testing.T) {
	tree := fstest.MapFS{
		"m/card.json": {Data: []byte("{}")}, "m/model.xml": {Data: []byte("<x>")}, "m/model.bin": {Data: []byte{1}},
		"m/tokenizer.json": {Data: []byte("{}")}, "m/MODEL_CARD.md": {Data: []byte("words")}, "b.bundle": {Data: []byte("abc")}, "empty/x": {},
	}
	digest, files, err := HashBundle(tree, "m")
	if err != nil || len(files) != 4 || files[1].Path != "m/model.bin" {
		t.Fatalf("%v: %v", err, files)
	}
	tree["m/MODEL_CARD.md"].Data = []byte("other words")
	if same, _, _ := HashBundle(tree, "m"); same != digest {
		t.Error("a file that is not served changes the digest")
	}
	tree["m/model.bin"].Data[0] ^= 1
	if other, _, _ := HashBundle(tree, "m"); other == digest {
		t.Error("a bit of the weights does not change the digest")
	}
	if got, _, err := HashBundle(tree, "b.bundle"); err != nil || got != "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("%v: %s", err, got)
	}
	for _, name := range []string{"gone", "empty"} {
		if _, _, err := HashBundle(tree, name); err == nil {
			t.Errorf("%s has a digest", name)
		}
	}
}

func TestDifferences(t *testing.T) {
	welcome := ipc.Welcome{Task: "rank", TaskVersion: "1.0", Revision: "r", Family: "bert", Backend: "openvino", Precision: "int8", MaxTokens: 512, BundleDigest: "sha256:1"}
	promised := Promised{NativeTask: "rank 1.0", Revision: "r", Family: "bert", Backend: "openvino", Precision: "int8", MaxSequenceLength: 512}
	f := func(want string, change func(*Identity)) {
		t.Helper()
		i := Identity{Served: NewServed(&welcome), ServingInfo: map[string]any{"task": map[string]any{"bundle_digest": "sha256:1"}}}
		change(&i)
		if got := strings.Join(i.Differences(&promised), "; "); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("", func(*Identity) {})
	f("", func(i *Identity) { i.Served.MaxTokens = 0 })
	f("native Task", func(i *Identity) { i.Served.Task = "pair 1.0" })
	f("revision", func(i *Identity) { i.Served.Revision = "s" })
	f("family", func(i *Identity) { i.Served.Family = "double" })
	f("precision", func(i *Identity) { i.Served.Precision = "f32" })
	f("backend", func(i *Identity) { i.Served.Backend = "null" })
	f("256 tokens", func(i *Identity) { i.Served.MaxTokens = 256 })
	f("/v1/serving/info", func(i *Identity) { i.Served.BundleDigest = "sha256:2" })
	f("/v1/serving/info", func(i *Identity) { i.ServingInfo = nil })
}

func TestMachine(t *testing.T) {
	m := ThisMachine(t.Context())
	if m.Cores < 1 || m.LoadAverage == "unknown" || m.Kernel == "unknown" || m.Memory == "unknown" || m.GPU == "" {
		t.Errorf("%+v", m)
	}
	if got := isa("fpu avx2 sse avx512_vnni"); fmt.Sprint(got) != "[avx2 avx512_vnni]" {
		t.Errorf("isa %v", got)
	}
}

func TestLinesHidesTheRoot(t *testing.T) {
	lines, err := Lines(t.Context(), "/somewhere/deep", "echo", "model /somewhere/deep/native/m")
	if err != nil || len(lines) != 1 || lines[0] != "model native/m" {
		t.Errorf("%v: %q", err, lines)
	}
	if _, err := Lines(t.Context(), "/", "false"); err == nil {
		t.Error("a failure is taken")
	}
}
