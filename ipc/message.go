package ipc

// ProtocolVersion is the version of PROTOCOL.md that this package speaks.
const ProtocolVersion = 1

// Truncate says what happens to a pair over the Task's token limit (PROTOCOL.md, section 6).
type Truncate string

const (
	TruncateNone  Truncate = "NONE"
	TruncateEnd   Truncate = "END"
	TruncateStart Truncate = "START"
)

// ScoreKind says what a Task's scores are, so that no dialect squashes a probability again.
type ScoreKind string

const (
	ScoreLogit       ScoreKind = "logit"
	ScoreProbability ScoreKind = "probability"
	ScoreUnbounded   ScoreKind = "unbounded"
)

// Hello is the client's first message.
type Hello struct {
	Protocol uint16
	Client   string
}

// Welcome is the identity and the limits of the Task.
type Welcome struct {
	Protocol     uint16
	Server       string
	Task         string
	TaskVersion  string
	Model        string
	Revision     string
	Family       string
	Backend      string
	Precision    string
	BundleDigest string // "sha256:<hex>" or empty
	ScoreKind    ScoreKind
	MaxTokens    uint32 // per pair; 0: the Task does not count tokens
	MaxPassages  uint32
	Pointwise    bool
}

// Rank is one ranking request.
type Rank struct {
	ID               string
	Query            string
	Passages         []string
	Truncate         Truncate
	DeadlineMS       uint32 // time left at sending; 0: none
	MaxPassageTokens uint32 // 0: none
	Traceparent      string // empty: none
}

// Scores answers a Rank. Times are in microseconds of the Task's monotonic clock.
type Scores struct {
	ID     string
	Scores []float32 // in passage order, all finite

	// HasTokens tells whether the Task counts tokens; without it PairTokens, Truncated and PaddingTokens mean nothing.
	HasTokens     bool
	PairTokens    []uint32 // special tokens included, padding excluded
	Truncated     uint32
	PaddingTokens uint64

	QueueUS              uint64
	TokenizeUS           uint64
	PublicTaskCallWallUS uint64
	Batches              uint32
}

// Pong is the Task's health, answered by the part of it that starts batches.
type Pong struct {
	Ready           bool
	OldestCallMS    uint64
	QueuedRequests  uint64
	QueuedPairs     uint64
	QueuedTokens    uint64
	QueuedTokensMax uint64
	RunningBatches  uint64
	Counters        map[string]uint64
	Gauges          map[string]uint64
	Histograms      map[string][]uint64 // cumulative; bounds in PROTOCOL.md, section 9
}

// Goaway announces that the Task drains.
type Goaway struct {
	Reason string
}

// Code is an error code of PROTOCOL.md, section 7.
type Code string

const (
	CodeInvalidRequest         Code = "invalid_request"
	CodeInputTooLong           Code = "input_too_long"
	CodeBackendRejectedRequest Code = "backend_rejected_request"
	CodeServerBusy             Code = "server_busy"
	CodeBackendUnavailable     Code = "backend_unavailable"
	CodeBackendFailed          Code = "backend_failed"
	CodeDeadlineExceeded       Code = "deadline_exceeded"
	CodeCancelled              Code = "cancelled"
	CodeProtocolError          Code = "protocol_error"
	CodeUnsupportedVersion     Code = "unsupported_version"
)

// Error is the Task's refusal of a Rank, or of the connection. It is an error.
type Error struct {
	ID           string
	Code         Code
	Message      string
	Passage      *uint32 // first passage at fault
	Tokens       *uint32 // of that pair
	MaxTokens    *uint32
	Offending    *uint32 // how many passages
	RetryAfterMS *uint32
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
