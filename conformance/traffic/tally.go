package traffic

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// What became of a request, where it is no HTTP status.
const (
	Unanswered = 0  // the connection failed before the answer was whole
	Left       = -1 // the client left
)

// Fate is what became of one request.
type Fate struct {
	Status int
	At     time.Time
}

// Tally keeps the fate of every request. It is safe for concurrent use; its zero value is ready.
type Tally struct {
	mu    sync.Mutex
	fates map[string]Fate
	wrong []string
}

func (t *Tally) note(id string, status int, wrong error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fates == nil {
		t.fates = make(map[string]Fate)
	}
	t.fates[id] = Fate{status, time.Now()}
	if wrong != nil && status != Left {
		t.wrong = append(t.wrong, fmt.Sprintf("%s: %v", id, wrong))
	}
}

// Wrong are the answers that were neither right nor a clear error.
func (t *Tally) Wrong() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.wrong...)
}

// Fates are those of all requests, by id.
func (t *Tally) Fates() map[string]Fate {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.fates)
}

// Count says how many requests met each fate.
func (t *Tally) Count() map[int]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	count := make(map[int]int)
	for _, fate := range t.fates {
		count[fate.Status]++
	}
	return count
}
