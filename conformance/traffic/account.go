package traffic

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Account is the tally of the clients against the records of the server.
type Account struct {
	Records   int `json:"records"`   // of ranking requests
	Repeated  int `json:"repeated"`  // ids with more than one
	Unknown   int `json:"unknown"`   // ids that no client sent
	Differing int `json:"differing"` // a status that is not the one the client got
	Missing   int `json:"missing"`   // no record of a request that was answered
	Excused   int `json:"excused"`   // missing, yet answered shortly before the proxy was killed, which may lose what it has not flushed
	Others    int `json:"others"`    // records of what never became a ranking request, such as noise
}

// Balanced tells whether every id is accounted for.
func (a *Account) Balanced() bool { return a.Repeated+a.Unknown+a.Differing+a.Missing == 0 }

// flushTime is the age beyond which a record is on disk whatever happens to the proxy.
const flushTime = 5 * time.Second

// line is what the account needs of a record.
type line struct {
	ID     string `json:"request_id"`
	Route  string `json:"route"`
	Status int    `json:"status"`
}

// Settle compares. Killed are the times at which the proxy was ended by SIGKILL.
func (t *Tally) Settle(records io.Reader, killed []time.Time) (*Account, error) {
	a, fates, seen := new(Account), t.Fates(), make(map[string]bool)
	for reader := bufio.NewReader(records); ; {
		text, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("a record is not JSON: %w", err)
		}
		a.take(l, fates, seen)
	}
	for id, fate := range fates {
		if !seen[id] && fate.Status > 0 {
			a.miss(fate.At, killed)
		}
	}
	return a, nil
}

func (a *Account) take(l line, fates map[string]Fate, seen map[string]bool) {
	if l.Route != rankingPath {
		a.Others++
		return
	}
	a.Records++
	fate, sent := fates[l.ID]
	switch {
	case !sent:
		a.Unknown++
	case seen[l.ID]:
		a.Repeated++
	case fate.Status > 0 && fate.Status != l.Status:
		a.Differing++
	}
	seen[l.ID] = true
}

func (a *Account) miss(at time.Time, killed []time.Time) {
	for _, kill := range killed {
		if age := kill.Sub(at); -flushTime < age && age < flushTime {
			a.Excused++
			return
		}
	}
	a.Missing++
}
