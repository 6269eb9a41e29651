package taskcheck

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"trtmc-ranking-proxy/ipc"
)

const theme = "ipc-rules"

// rules are the cases beyond single frames, by the section of PROTOCOL.md that each comes from.
var rules = []check{
	{theme, "welcome-is-complete", "section 5: identity and limits are what clients are told", welcomeIsComplete},
	{theme, "nothing-before-hello", "section 8: hello is the first frame", nothingBeforeHello},
	{theme, "other-version-is-refused", "section 7: a version not spoken here ends the connection", otherVersion},
	{theme, "hello-comes-once", "section 8: another hello is a protocol error", helloComesOnce},
	{theme, "exchanges-count-up", "section 2: an exchange used before, or a lower one, is a protocol error", exchangesCountUp},
	{theme, "hello-in-pieces", "a stream may be cut at any byte", helloInPieces},
	{theme, "rank-in-pieces", "a stream may be cut at any byte", rankInPieces},
	{theme, "frames-joined", "two frames in one write are two frames", framesJoined},
	{theme, "half-a-frame-then-gone", "section 8: a client that leaves at any byte has left", halfFrames},
	{theme, "one-answer-each", "section 8: many in flight, each answered exactly once, in any order", oneAnswerEach},
	{theme, "same-texts-same-scores", "the same rank alone and among others scores the same within 0.05", sameScores},
	{theme, "ids-come-back", "section 5: the answer carries the id of its rank", idsComeBack},
	{theme, "no-passages", "section 7: invalid_request, and the connection survives", noPassages},
	{theme, "passages-over-the-limit", "section 7: more than max_passages is invalid_request, and the connection survives", tooManyPassages},
	{theme, "most-passages", "section 5: max_passages are accepted in one rank", mostPassages},
	{theme, "ping-while-ranking", "a pong does not wait behind every rank for ever", pingWhileRanking},
	{theme, "pong-is-plausible", "section 9: known histograms have their number of buckets, which never fall", pongIsPlausible},
	{theme, "cancel-is-answered", "section 8: a cancelled rank still has exactly one answer", cancelIsAnswered},
	{theme, "cancel-of-nothing", "section 8: cancel of an unknown or answered exchange is ignored", cancelOfNothing},
	{theme, "deadline-is-answered", "section 8: work past its deadline is answered, not dropped", deadlineIsAnswered},
	{theme, "left-while-ranking", "section 8: a half-closed connection is cancelled and closed", leftWhileRanking},
	{theme, "connections-are-apart", "an exchange number belongs to its connection", connectionsAreApart},
	{theme, "times-are-plausible", "section 5: the parts never exceed what the client waited", timesArePlausible},
	{theme, "tokens-add-up", "section 5: token counts are per pair and positive, or absent altogether", tokensAddUp},
	{theme, "limit-is-exact", "section 6: under END an overlong pair has exactly max_tokens, under NONE it is refused with numbers", limitIsExact},
	{theme, "protocol-error-spares-others", "section 7: only the connection at fault is closed", protocolErrorSparesOthers},
}

func rank(id string, passages ...string) *ipc.Rank {
	return &ipc.Rank{ID: id, Query: "where do otters sleep", Passages: passages, Truncate: ipc.TruncateEnd}
}

// many makes passages that differ.
func many(n, words int) []string {
	passages := make([]string, n)
	for i := range passages {
		passages[i] = fmt.Sprintf("passage %d says", i) + strings.Repeat(" that otters doze", words/3+i%5)
	}
	return passages
}

// scored sends one rank and wants scores.
func scored(s *session, exchange uint64, r *ipc.Rank) (*ipc.Scores, error) {
	if err := s.send(exchange, r); err != nil {
		return nil, err
	}
	got, err := s.next()
	if err != nil {
		return nil, fmt.Errorf("no scores: %w", err)
	}
	if err := fits(got, exchange, r); err != nil {
		return nil, err
	}
	scores, ok := got.message.(*ipc.Scores)
	if !ok {
		return nil, fmt.Errorf("%s instead of scores", describe(got))
	}
	return scores, nil
}

// onSession runs a rule on a connection past its welcome.
func onSession(rule func(s *session, w *ipc.Welcome) error) func(string) error {
	return func(socket string) error {
		s, w, err := greeted(socket)
		if err != nil {
			return err
		}
		defer s.close()
		return rule(s, w)
	}
}

var welcomeIsComplete = onSession(func(_ *session, w *ipc.Welcome) error {
	for name, text := range map[string]string{
		"server": w.Server, "task": w.Task, "model": w.Model, "family": w.Family, "backend": w.Backend, "precision": w.Precision,
	} {
		if text == "" {
			return fmt.Errorf("welcome.%s is empty", name)
		}
	}
	if !strings.HasPrefix(w.Task, "text_") || w.TaskVersion != "1.0" {
		return fmt.Errorf("welcome names Task %q %q", w.Task, w.TaskVersion)
	}
	return nil
})

func nothingBeforeHello(socket string) error {
	for _, first := range []ipc.Message{&ipc.Ping{}, rank("early", "p"), &ipc.Cancel{}} {
		s, err := dial(socket)
		if err != nil {
			return err
		}
		err = errors.Join(s.send(1, first), s.refused(ipc.CodeProtocolError))
		s.close()
		if err != nil {
			return fmt.Errorf("%s before hello: %w", first.Type(), err)
		}
	}
	return nil
}

func otherVersion(socket string) error {
	s, err := dial(socket)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.send(0, &ipc.Hello{Protocol: 65535, Client: "ranking-conformance/1"}); err != nil {
		return err
	}
	return s.refused(ipc.CodeUnsupportedVersion)
}

var helloComesOnce = onSession(func(s *session, _ *ipc.Welcome) error {
	if err := s.send(0, &ipc.Hello{Protocol: ipc.ProtocolVersion, Client: "again"}); err != nil {
		return err
	}
	return s.refused(ipc.CodeProtocolError)
})

func exchangesCountUp(socket string) error {
	for _, second := range []uint64{7, 6} {
		s, _, err := greeted(socket)
		if err != nil {
			return err
		}
		_, err = scored(s, 7, rank("first", "p"))
		err = errors.Join(err, s.send(second, rank("second", "p")), s.refused(ipc.CodeProtocolError))
		s.close()
		if err != nil {
			return fmt.Errorf("exchange %d after 7: %w", second, err)
		}
	}
	return nil
}

var noPassages = onSession(func(s *session, _ *ipc.Welcome) error {
	return refusedAlive(s, rank("none"), ipc.CodeInvalidRequest)
})

var tooManyPassages = onSession(func(s *session, w *ipc.Welcome) error {
	if w.MaxPassages >= ipc.MaxPassages {
		return notApplicable("max_passages is the protocol's own limit, which has a vector")
	}
	return refusedAlive(s, rank("crowd", many(int(w.MaxPassages)+1, 0)...), ipc.CodeInvalidRequest)
})

// refusedAlive wants an error for a rank, and then a working connection.
func refusedAlive(s *session, r *ipc.Rank, code ipc.Code) error {
	if err := s.send(1, r); err != nil {
		return err
	}
	got, err := s.next()
	if err != nil {
		return fmt.Errorf("no error %s: %w", code, err)
	}
	refusal, ok := got.message.(*ipc.Error)
	if !ok || refusal.Code != code || got.exchange != 1 {
		return fmt.Errorf("%s instead of error %s on exchange 1", describe(got), code)
	}
	_, err = scored(s, 2, rank("after", "p"))
	return err
}

var mostPassages = onSession(func(s *session, w *ipc.Welcome) error {
	_, err := scored(s, 1, rank("most", many(int(min(w.MaxPassages, 512)), 0)...))
	return err
})

var idsComeBack = onSession(func(s *session, _ *ipc.Welcome) error {
	for i, id := range []string{"a", "Z9._:-", strings.Repeat("i", 128)} {
		scores, err := scored(s, uint64(i+1), rank(id, "p"))
		if err != nil {
			return err
		}
		if scores.ID != id {
			return fmt.Errorf("id %q came back as %q", id, scores.ID)
		}
	}
	return nil
})

var sameScores = onSession(func(s *session, _ *ipc.Welcome) error {
	probe := "otters doze on their backs among the kelp"
	alone, err := scored(s, 1, rank("alone", probe))
	if err != nil {
		return err
	}
	company, err := scored(s, 2, rank("company", append(many(9, 30), probe)...))
	if err != nil {
		return err
	}
	if d := math.Abs(float64(alone.Scores[0]) - float64(company.Scores[9])); d > 0.05 {
		return fmt.Errorf("alone %g, in company %g", alone.Scores[0], company.Scores[9])
	}
	return nil
})
