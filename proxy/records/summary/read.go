package summary

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Line is what a summary needs of a record; schema.json of package records describes all of it.
type Line struct {
	ID      string    `json:"request_id"`
	Time    time.Time `json:"time"`
	Warmup  bool      `json:"warmup"`
	Status  int       `json:"status"`
	Outcome string    `json:"outcome"`
	Sent    bool      `json:"sent"`
	Task    struct {
		Model string `json:"model"`
	} `json:"task"`
	Timing struct {
		Handler int64  `json:"handler_us"`
		IPC     *int64 `json:"ipc_us"`
		Queue   *int64 `json:"queue_us"`
		Call    *int64 `json:"public_task_call_wall_us"`
	} `json:"timing"`
	Observation struct {
		Passages  int64  `json:"passages"`
		Tokens    *int64 `json:"tokens"`
		Truncated int64  `json:"truncated"`
	} `json:"observation"`
}

// maxLine bounds the memory of one line; a line of --records-texts is at most a few times the largest body.
const maxLine = 256 << 20

// Damage counts what is in a file and is no record.
type Damage struct {
	Garbage int `json:"garbage"` // lines that are no record
	Torn    int `json:"torn"`    // a last line without its end, as a killed proxy leaves it
}

// Read calls each with every record of r, in order. Lines that are no record are counted and skipped; only a failing r is an error.
// The Line is used again after each returns.
func Read(r io.Reader, each func(*Line)) (Damage, error) {
	var damage Damage
	var line Line
	buffered := bufio.NewReaderSize(r, 64<<10)
	for {
		text, err := readLine(buffered)
		switch {
		case errors.Is(err, errTooLong):
			damage.Garbage++
			continue
		case err == io.EOF && len(text) > 0:
			damage.Torn++
			return damage, nil
		case err == io.EOF:
			return damage, nil
		case err != nil:
			return damage, fmt.Errorf("read records: %w", err)
		}
		line = Line{}
		if json.Unmarshal(text, &line) != nil || !line.valid() {
			damage.Garbage++
			continue
		}
		each(&line)
	}
}

var errTooLong = errors.New("line too long")

// readLine returns a line with its end. What is returned with io.EOF had none.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for tooLong := false; ; {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case tooLong:
			return nil, errTooLong
		default:
			return line, err
		}
	}
}

// valid tells whether the line can be counted: everything else may be missing, but no number may be absurd.
func (l *Line) valid() bool {
	if l.ID == "" || l.Outcome == "" || l.Time.IsZero() || l.Time.Year() < 1970 || l.Time.Year() > 2200 {
		return false
	}
	for _, n := range []*int64{&l.Timing.Handler, l.Timing.IPC, l.Timing.Queue, l.Timing.Call, &l.Observation.Passages, l.Observation.Tokens} {
		if n != nil && (*n < 0 || *n > maxCount) {
			return false
		}
	}
	return true
}

// maxCount is beyond any number in a record, and small enough that sums do not overflow.
const maxCount = 1 << 40
