package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"trtmc-ranking-proxy/proxy/telemetry"
)

func options(t *testing.T) Options {
	return Options{
		Path: filepath.Join(t.TempDir(), "records.jsonl"), Full: Block, Keep: 2,
		Log: zerolog.New(io.Discard), Metrics: telemetry.New("test"),
	}
}

func mustOpen(t *testing.T, o Options) *Writer {
	t.Helper()
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func mustClose(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 10 s")
		}
	}
}

// ids are the request ids in a file of whole lines.
func ids(t *testing.T, path string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		t.Fatalf("the last line is torn: %q", content[max(0, len(content)-100):])
	}
	var ids []string
	for line := range strings.Lines(string(content)) {
		var r struct {
			ID string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

func TestEveryRecordIsWrittenOnce(t *testing.T) {
	o := options(t)
	o.Queue = 5000 // a queue of a few records, so that writers block
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 300
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for j := range each {
				w.Put(scored(fmt.Sprintf("%d-%d", i, j), 1, 2))
			}
		})
	}
	wg.Wait()
	mustClose(t, w)
	seen := make(map[string]int)
	for _, id := range ids(t, o.Path) {
		seen[id]++
	}
	if len(seen) != writers*each {
		t.Fatalf("%d different ids of %d", len(seen), writers*each)
	}
	if written, queued := o.Metrics.RecordsWritten.Get(), o.Metrics.RecordsQueued.Load(); written != writers*each || queued != 0 {
		t.Fatalf("counted %d written, %d queued", written, queued)
	}
	w.Put(scored("late", 1))
	if o.Metrics.RecordsDropped.Get() != 1 {
		t.Fatal("a record put after Close is not counted as dropped")
	}
}

func TestDrop(t *testing.T) {
	o := options(t)
	o.Full = Drop
	o.Queue = 5000 // a queue of a few records
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	const puts = 5000
	for i := range puts {
		w.Put(scored(fmt.Sprint(i), 1))
	}
	mustClose(t, w)
	written, dropped := o.Metrics.RecordsWritten.Get(), o.Metrics.RecordsDropped.Get()
	if written+dropped != puts || dropped == 0 || int(written) != len(ids(t, o.Path)) || o.Metrics.RecordsQueued.Load() != 0 {
		t.Fatalf("%d written (%d in the file), %d dropped of %d", written, len(ids(t, o.Path)), dropped, puts)
	}
}

func TestFullQueue(t *testing.T) {
	big := scored("big", 1)
	big.BodyBytes = 1 << 20
	q := newQueue(10_000)
	if !q.put(big, false) || q.put(scored("2", 1), false) {
		t.Fatal("a record larger than the queue must have an empty queue, and then the queue is full")
	}
	q.done(q.take(nil).records[0].weight())
	if !q.put(scored("3", 1), false) {
		t.Fatal("no room after done")
	}
}

func TestBlockedPutsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2000)
		q.put(unparsed(), true)
		result := make(chan bool, 2)
		go func() { result <- q.put(unparsed(), true) }()
		go func() { result <- q.put(unparsed(), true) }()
		synctest.Wait()
		if len(result) != 0 {
			t.Fatal("a full queue took a record")
		}
		q.done(unparsed().weight())
		if !<-result {
			t.Fatal("refused although there is room")
		}
		q.close()
		if <-result {
			t.Fatal("a closed queue took a record")
		}
	})
}

func TestRotation(t *testing.T) {
	o := options(t)
	line := len(newEncoder(false).append(nil, scored("00", 1)))
	o.MaxBytes = int64(3*line + line/2)
	w := mustOpen(t, o)
	for i := range 11 {
		w.Put(scored(fmt.Sprintf("%02d", i), 1))
	}
	mustClose(t, w)
	f := func(path string, want ...string) {
		t.Helper()
		if got := ids(t, path); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: got %v, want %v", path, got, want)
		}
	}
	f(o.Path, "09", "10")
	f(o.Path+".1", "06", "07", "08")
	f(o.Path+".2", "03", "04", "05")
	if _, err := os.Stat(o.Path + ".3"); !os.IsNotExist(err) {
		t.Fatalf("more is kept than asked for: %v", err)
	}
}

func TestReopen(t *testing.T) {
	o := options(t)
	w := mustOpen(t, o)
	w.Put(scored("a", 1))
	w.Reopen() // nobody has moved the file
	w.Put(scored("b", 1))
	eventually(t, func() bool { return o.Metrics.RecordsWritten.Get() == 2 })
	if err := os.Rename(o.Path, o.Path+".moved"); err != nil {
		t.Fatal(err)
	}
	w.Put(scored("c", 1))
	eventually(t, func() bool { return o.Metrics.RecordsWritten.Get() == 3 })
	w.Reopen()
	w.Put(scored("d", 1))
	mustClose(t, w)
	if moved, current := ids(t, o.Path+".moved"), ids(t, o.Path); fmt.Sprint(moved, current) != "[a b c] [d]" {
		t.Fatalf("got %v and %v", moved, current)
	}
}

// Without a file to change to, the writer keeps the one it has.
func TestReopenThatFails(t *testing.T) {
	o := options(t)
	folder := filepath.Join(t.TempDir(), "a")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	o.Path = filepath.Join(folder, "records.jsonl")
	w := mustOpen(t, o)
	w.Put(scored("a", 1))
	eventually(t, func() bool { return o.Metrics.RecordsWritten.Get() == 1 })
	if err := os.Rename(folder, folder+"-moved"); err != nil {
		t.Fatal(err)
	}
	w.Reopen()
	w.Put(scored("b", 1))
	mustClose(t, w)
	if got := ids(t, filepath.Join(folder+"-moved", "records.jsonl")); fmt.Sprint(got) != "[a b]" {
		t.Fatalf("got %v", got)
	}
}

func TestATornLineIsCutAtTheStart(t *testing.T) {
	f := func(before string, want ...string) {
		t.Helper()
		o := options(t)
		if err := os.WriteFile(o.Path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		w := mustOpen(t, o)
		w.Put(scored("new", 1))
		mustClose(t, w)
		if got := ids(t, o.Path); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%.60q: got %v, want %v", before, got, want)
		}
	}
	whole := string(newEncoder(false).append(nil, scored("old", 1)))
	f("", "new")
	f(whole, "old", "new")
	f(whole+whole[:50], "old", "new")
	f(whole+whole[:5], "old", "new")
	f(whole+whole[:len(whole)-1], "old", "new")
	f(linePrefix+strings.Repeat("x", 200_000), "new")
}

func TestRefusedFiles(t *testing.T) {
	f := func(mention string, prepare func(o Options)) {
		t.Helper()
		o := options(t)
		prepare(o)
		if w, err := Open(o); err == nil {
			w.Close()
			t.Fatal("opened")
		} else if !strings.Contains(err.Error(), mention) {
			t.Fatalf("%q does not mention %q", err, mention)
		}
	}
	f("does not end with a record", func(o Options) { os.WriteFile(o.Path, []byte("my notes"), 0o600) })
	f("not a regular file", func(o Options) { unix.Mkfifo(o.Path, 0o600) })
	f("in use by another process", func(o Options) { w := mustOpen(t, o); t.Cleanup(func() { w.Close() }) })
	f("is a directory", func(o Options) { os.Mkdir(o.Path, 0o700) })
}

// A limit on the size of files stands for a full disk: writes end short, then fail.
func TestDiskFull(t *testing.T) {
	o := options(t)
	logs := new(bytes.Buffer)
	o.Log = zerolog.New(logs)
	w := mustOpen(t, o)
	line := len(newEncoder(false).append(nil, scored("000", 1)))
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := func(bytes uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(before.Cur)
	limit(uint64(5*line + line/2))
	const full = 50
	for i := range full {
		w.Put(scored(fmt.Sprintf("%03d", i), 1))
	}
	eventually(t, func() bool { return o.Metrics.RecordsQueued.Load() == 0 })
	if got := ids(t, o.Path); fmt.Sprint(got) != "[000 001 002 003 004]" {
		t.Fatalf("on the full disk: %v", got)
	}
	if lost := o.Metrics.RecordsFailed.Get(); lost != full-5 {
		t.Fatalf("%d counted as lost, want %d", lost, full-5)
	}
	limit(before.Cur)
	w.Put(scored("after", 1))
	mustClose(t, w)
	if got := ids(t, o.Path); got[len(got)-1] != "after" || len(got) != 6 {
		t.Fatalf("with room again: %v", got)
	}
	text := logs.String()
	if strings.Count(text, "cannot write records") != 1 || !strings.Contains(text, "file too large") || !strings.Contains(text, `"lost":45`) || !strings.Contains(text, "written again") {
		t.Fatalf("logs: %s", text)
	}
}
