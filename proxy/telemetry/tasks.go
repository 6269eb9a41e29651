package telemetry

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"trtmc-ranking-proxy/ipc"
)

// Task is what is known of the Task behind one socket. Its methods may be called from any goroutine.
type Task struct {
	labels string // socket="..."
	up     atomic.Bool
	pong   atomic.Pointer[ipc.Pong] // nil unless connected
	who    atomic.Pointer[ipc.Welcome]
}

// Up says whether the Task is ready.
func (t *Task) Up(ready bool) { t.up.Store(ready) }

// Heard takes the figures of a pong.
func (t *Task) Heard(pong *ipc.Pong) { t.pong.Store(pong) }

// Met takes the identity of the Task.
func (t *Task) Met(welcome *ipc.Welcome) { t.who.Store(welcome) }

// Lost drops the figures: those of a Task that is gone would look like one that rests.
func (t *Task) Lost() { t.pong.Store(nil) }

// tasks are those of one proxy.
type tasks struct {
	mu  sync.Mutex
	all []*Task
}

// Task registers the Task behind a socket.
func (m *Metrics) Task(socket string) *Task {
	t := &Task{labels: fmt.Sprintf("socket=%q", socket)}
	m.tasks.mu.Lock()
	defer m.tasks.mu.Unlock()
	m.tasks.all = append(m.tasks.all, t)
	return t
}

// Forget takes a Task out: its socket is gone for good.
func (m *Metrics) Forget(t *Task) {
	m.tasks.mu.Lock()
	defer m.tasks.mu.Unlock()
	m.tasks.all = slices.DeleteFunc(m.tasks.all, func(one *Task) bool { return one == t })
}

// sample is the value of one Task's figure; without ok there is none.
type sample func(t *Task, p *ipc.Pong) (value float64, ok bool)

// family is one metric of every Task.
type family struct {
	name, kind string
	sample     sample
}

// append renders the figures, a family at a time, as the format wants.
func (ts *tasks) append(dst []byte) []byte {
	ts.mu.Lock()
	all := slices.Clone(ts.all)
	ts.mu.Unlock()
	dst = appendInfo(dst, all)
	for i := range families {
		dst = families[i].append(dst, all)
	}
	for i := range pongHistograms {
		dst = pongHistograms[i].append(dst, all)
	}
	return dst
}

func (f *family) append(dst []byte, all []*Task) []byte {
	begun := false
	for _, t := range all {
		value, ok := f.sample(t, t.pong.Load())
		if !ok {
			continue
		}
		if !begun {
			dst, begun = appendHead(dst, f.name, f.kind), true
		}
		dst = fmt.Appendf(dst, "%s{%s} ", f.name, t.labels)
		dst = append(strconv.AppendFloat(dst, value, 'g', -1, 64), '\n')
	}
	return dst
}

func appendHead(dst []byte, name, kind string) []byte {
	return fmt.Appendf(dst, "# HELP %s\n# TYPE %s %s\n", name, name, kind)
}

func appendInfo(dst []byte, all []*Task) []byte {
	begun := false
	for _, t := range all {
		who := t.who.Load()
		if who == nil {
			continue
		}
		if !begun {
			dst, begun = appendHead(dst, "ranking_task_info", "gauge"), true
		}
		dst = fmt.Appendf(dst, "ranking_task_info{%s,model=%q,revision=%q,backend=%q,precision=%q,server=%q} 1\n",
			t.labels, who.Model, who.Revision, who.Backend, who.Precision, who.Server)
	}
	return dst
}

// pongHistogram is a histogram of ipc/PROTOCOL.md, section 9.
type pongHistogram struct {
	key, name string
	bounds    []float64 // in the unit of name
}

var pongHistograms = []pongHistogram{
	{"batch_pairs", "ranking_task_batch_pairs", []float64{1, 2, 4, 8, 16, 32, 64, 128}},
	{"batch_tokens", "ranking_task_batch_tokens", []float64{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}},
	{"call_us", "ranking_task_call_seconds", []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}},
}

func (h *pongHistogram) append(dst []byte, all []*Task) []byte {
	begun := false
	for _, t := range all {
		pong := t.pong.Load()
		if pong == nil || len(pong.Histograms[h.key]) != len(h.bounds)+1 {
			continue
		}
		if !begun {
			dst, begun = appendHead(dst, h.name, "histogram"), true
		}
		dst = h.appendBuckets(dst, t.labels, pong.Histograms[h.key])
	}
	return dst
}

func (h *pongHistogram) appendBuckets(dst []byte, labels string, counts []uint64) []byte {
	for i, bound := range h.bounds {
		dst = fmt.Appendf(dst, "%s_bucket{%s,le=\"%g\"} %d\n", h.name, labels, bound, counts[i])
	}
	total := counts[len(h.bounds)]
	return fmt.Appendf(dst, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_count{%s} %d\n", h.name, labels, total, h.name, labels, total)
}
