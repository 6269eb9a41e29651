package records

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/proxy/telemetry"
)

// Full says what becomes of a record when the disk cannot keep up and the queue is full.
type Full string

const (
	Block Full = "block" // the connection waits before it reads its next request: nothing is lost
	Drop  Full = "drop"  // the record is dropped and counted: no client ever waits
)

// Options of a Writer. Log and Metrics are required.
type Options struct {
	Path     string
	Full     Full
	Texts    bool  // keep query and passages themselves
	MaxBytes int64 // size at which the file is rotated; 0: never
	Keep     int   // rotated files kept, FILE.1 the newest; at least 1
	Queue    int   // bytes of memory that waiting records may hold; 0: DefaultQueue
	Log      zerolog.Logger
	Metrics  *telemetry.Metrics
}

// DefaultQueue is the bound of waiting records unless Options say otherwise.
const DefaultQueue = 32 << 20

// chunkBytes is how much is encoded before it is written, unless the queue is empty sooner.
const chunkBytes = 256 << 10

// gather is how long the writer waits for more before it writes, so that a busy proxy pays for one wake-up and one write in so long,
// and not for each request. Less is lost by a kill than what this time holds.
const gather = 5 * time.Millisecond

// burst is how many records are encoded at a stretch: some 50 us of a core that requests may be waiting for.
const burst = 16

// Writer appends records to a file. Its methods may be called from any goroutine.
type Writer struct {
	Options
	queue   *queue
	file    *file
	encoder *encoder
	buffer  []byte
	lines   int // in buffer
	failing bool
	failed  time.Time // of the last report
	running sync.WaitGroup
}

// Open opens the file, or makes it, and starts the goroutine that writes it. A file of another proxy, or one that holds something
// else than records, is refused.
func Open(o Options) (*Writer, error) {
	f, err := openFile(o.Path)
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	w := &Writer{Options: o, queue: newQueue(cmp.Or(o.Queue, DefaultQueue)), file: f, encoder: newEncoder(o.Texts)}
	w.running.Go(w.run)
	return w, nil
}

// Put hands a record over. It waits only under Block, and only while the queue is full.
func (w *Writer) Put(r *Record) {
	w.Metrics.RecordsQueued.Add(1)
	if !w.queue.put(r, w.Full == Block) {
		w.Metrics.RecordsQueued.Add(-1)
		w.Metrics.RecordsDropped.Inc()
	}
}

// Reopen opens the path anew, for whoever has moved the file away.
func (w *Writer) Reopen() { w.queue.askReopen() }

// Close writes what is queued and closes the file. Records put afterwards are dropped.
func (w *Writer) Close() error {
	w.queue.close()
	w.running.Wait()
	return w.file.close()
}

func (w *Writer) run() {
	var spare []*Record
	for last := false; !last; {
		todo := w.queue.take(spare)
		if todo.reopen {
			w.reopen()
		}
		w.writeAll(todo.records)
		if spare, last = todo.records, todo.last; !last {
			w.pause()
		}
	}
}

func (w *Writer) pause() {
	select {
	case <-time.After(gather):
	case <-w.queue.urgent:
	}
}

func (w *Writer) writeAll(all []*Record) {
	freed := 0
	for i, r := range all {
		w.append(r)
		all[i] = nil
		if freed += r.weight(); freed >= chunkBytes {
			w.queue.done(freed)
			freed = 0
		}
		if i%burst == burst-1 {
			runtime.Gosched() // requests go first
		}
	}
	w.flush()
	w.queue.done(freed)
}

// append encodes r, after writing what would leave no room for it in the file or in the buffer.
func (w *Writer) append(r *Record) {
	before := len(w.buffer)
	w.buffer = w.encoder.append(w.buffer, r)
	w.lines++
	switch {
	case w.MaxBytes > 0 && w.file.size+int64(len(w.buffer)) > w.MaxBytes:
		w.rotate(before)
	case len(w.buffer) >= chunkBytes:
		w.flush()
	}
}

// rotate writes the lines up to the given length of the buffer and leaves the last one to a new file.
func (w *Writer) rotate(before int) {
	line := w.buffer[before:]
	w.buffer, w.lines = w.buffer[:before], w.lines-1
	w.flush()
	if w.file.size > 0 {
		if err := w.file.rotate(w.Keep); err != nil {
			w.report("cannot rotate the records", err)
		}
	}
	w.buffer = append(w.buffer, line...)
	w.lines++
}

func (w *Writer) reopen() {
	if !w.file.moved() {
		return
	}
	f, err := openFile(w.Path)
	if err != nil {
		w.report("cannot reopen the records; going on with the file at hand", err)
		return
	}
	w.file.close()
	w.file = f
	w.Log.Info().Msg("records reopened")
}

// flush writes the buffer. Lines that cannot be written are counted and forgotten: serving goes on.
func (w *Writer) flush() {
	if w.lines == 0 {
		return
	}
	written, err := w.file.write(w.buffer)
	w.Metrics.RecordsWritten.Add(written)
	w.Metrics.RecordsFailed.Add(w.lines - written)
	w.Metrics.RecordsQueued.Add(int64(-w.lines))
	if err != nil {
		w.report("cannot write records", err)
	} else if w.failing {
		w.Log.Info().Uint64("lost", w.Metrics.RecordsFailed.Get()).Msg("records are written again")
	}
	w.failing = err != nil
	const keep = 4 << 20 // else one large request would hold its memory for ever
	if cap(w.buffer) > keep {
		w.buffer = nil
	}
	w.buffer, w.lines = w.buffer[:0], 0
}

// reportEvery keeps a full disk from filling another one with log lines.
const reportEvery = 10 * time.Second

func (w *Writer) report(what string, err error) {
	if now := time.Now(); now.Sub(w.failed) >= reportEvery {
		w.failed = now
		w.Log.Error().Err(err).Uint64("lost", w.Metrics.RecordsFailed.Get()).Msg(what)
	}
}
