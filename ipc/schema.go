package ipc

// The tables of PROTOCOL.md, section 5, in its order, which is the order of sending.

var helloFields = table[Hello]{
	integer("protocol", bounds{1, 65535}, func(m *Hello) *uint16 { return &m.Protocol }),
	text("client", shortText, func(m *Hello) *string { return &m.Client }),
}

var welcomeFields = table[Welcome]{
	integer("protocol", bounds{1, 65535}, func(m *Welcome) *uint16 { return &m.Protocol }),
	text("server", shortText, func(m *Welcome) *string { return &m.Server }),
	text("task", shortText, func(m *Welcome) *string { return &m.Task }),
	text("task_version", shortText, func(m *Welcome) *string { return &m.TaskVersion }),
	text("model", shortText, func(m *Welcome) *string { return &m.Model }),
	text("revision", shortText, func(m *Welcome) *string { return &m.Revision }),
	text("family", shortText, func(m *Welcome) *string { return &m.Family }),
	text("backend", shortText, func(m *Welcome) *string { return &m.Backend }),
	text("precision", shortText, func(m *Welcome) *string { return &m.Precision }),
	text("bundle_digest", shortText, func(m *Welcome) *string { return &m.BundleDigest }),
	oneOf("score_kind", func(m *Welcome) *ScoreKind { return &m.ScoreKind }, ScoreLogit, ScoreProbability, ScoreUnbounded),
	integer("max_tokens", bounds{0, maxCount}, func(m *Welcome) *uint32 { return &m.MaxTokens }),
	integer("max_passages", bounds{1, MaxPassages}, func(m *Welcome) *uint32 { return &m.MaxPassages }),
	boolean("pointwise", func(m *Welcome) *bool { return &m.Pointwise }),
}

var rankFields = table[Rank]{
	text("id", requestID, func(m *Rank) *string { return &m.ID }),
	text("query", payloadText, func(m *Rank) *string { return &m.Query }),
	texts("passages", MaxPassages, func(m *Rank) *[]string { return &m.Passages }),
	oneOf("truncate", func(m *Rank) *Truncate { return &m.Truncate }, TruncateNone, TruncateEnd, TruncateStart),
	nonzero("deadline_ms", bounds{0, maxCount}, func(m *Rank) *uint32 { return &m.DeadlineMS }),
	nonzero("max_passage_tokens", bounds{1, maxCount}, func(m *Rank) *uint32 { return &m.MaxPassageTokens }),
	optional(text("traceparent", shortText, func(m *Rank) *string { return &m.Traceparent }),
		func(m *Rank) bool { return m.Traceparent != "" }),
}

var scoresFields = table[Scores]{
	text("id", requestID, func(m *Scores) *string { return &m.ID }),
	{
		key:   "scores",
		read:  func(d *decoder, m *Scores) { m.Scores = d.packedF32() },
		write: func(e *encoder, m *Scores) { e.packedF32(m.Scores) },
	},
	{
		key:     "pair_tokens",
		present: countsTokens,
		read:    func(d *decoder, m *Scores) { m.PairTokens, m.HasTokens = d.packedU32(), true },
		write:   func(e *encoder, m *Scores) { e.packedU32(m.PairTokens) },
	},
	optional(integer("truncated", any32, func(m *Scores) *uint32 { return &m.Truncated }), countsTokens),
	integer("queue_us", any64, func(m *Scores) *uint64 { return &m.QueueUS }),
	optional(integer("tokenize_us", any64, func(m *Scores) *uint64 { return &m.TokenizeUS }), always),
	integer("public_task_call_wall_us", any64, func(m *Scores) *uint64 { return &m.PublicTaskCallWallUS }),
	optional(integer("batches", any32, func(m *Scores) *uint32 { return &m.Batches }), always),
	optional(integer("padding_tokens", any64, func(m *Scores) *uint64 { return &m.PaddingTokens }), countsTokens),
}

func countsTokens(m *Scores) bool { return m.HasTokens }

func (m *Scores) check() *ProtocolError {
	if m.HasTokens && len(m.PairTokens) != len(m.Scores) {
		return faultf(ClassCountMismatch, "%d pair_tokens for %d scores", len(m.PairTokens), len(m.Scores))
	}
	return nil
}

var errorFields = table[Error]{
	optional(text("id", requestID, func(m *Error) *string { return &m.ID }), func(m *Error) bool { return m.ID != "" }),
	text("code", shortText, func(m *Error) *Code { return &m.Code }),
	text("message", shortText, func(m *Error) *string { return &m.Message }),
	pointer("passage", func(m *Error) **uint32 { return &m.Passage }),
	pointer("tokens", func(m *Error) **uint32 { return &m.Tokens }),
	pointer("max_tokens", func(m *Error) **uint32 { return &m.MaxTokens }),
	pointer("offending", func(m *Error) **uint32 { return &m.Offending }),
	pointer("retry_after_ms", func(m *Error) **uint32 { return &m.RetryAfterMS }),
}

var pongFields = table[Pong]{
	boolean("ready", func(m *Pong) *bool { return &m.Ready }),
	integer("oldest_call_ms", any64, func(m *Pong) *uint64 { return &m.OldestCallMS }),
	integer("queued_requests", any64, func(m *Pong) *uint64 { return &m.QueuedRequests }),
	integer("queued_pairs", any64, func(m *Pong) *uint64 { return &m.QueuedPairs }),
	integer("queued_tokens", any64, func(m *Pong) *uint64 { return &m.QueuedTokens }),
	integer("queued_tokens_max", any64, func(m *Pong) *uint64 { return &m.QueuedTokensMax }),
	integer("running_batches", any64, func(m *Pong) *uint64 { return &m.RunningBatches }),
	numbers("counters", func(m *Pong) *map[string]uint64 { return &m.Counters }),
	numbers("gauges", func(m *Pong) *map[string]uint64 { return &m.Gauges }),
	histograms("histograms", func(m *Pong) *map[string][]uint64 { return &m.Histograms }),
}

var goawayFields = table[Goaway]{
	text("reason", shortText, func(m *Goaway) *string { return &m.Reason }),
}

var (
	cancelFields = table[Cancel]{}
	pingFields   = table[Ping]{}
)
