package backend

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

func TestDivide(t *testing.T) {
	f := func(loads []int64, work, least int64, want ...int64) {
		t.Helper()
		shares := make([]share, len(loads))
		for i, load := range loads {
			shares[i].load = load
		}
		var got []int64
		for _, s := range divide(shares, work, least) {
			got = append(got, s.bytes)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, work %d: got %v, want %v", loads, work, got, want)
		}
	}
	f([]int64{0, 0}, 100, 10, 50, 50)
	f([]int64{60, 0}, 100, 10, 80, 20)
	f([]int64{85, 0}, 100, 10, 100) // 7 would be too little
	f([]int64{1000, 0, 0}, 100, 10, 50, 50)
	f([]int64{0, 0, 0}, 100, 40, 50, 50)
	f([]int64{7}, 100, 10, 100)
	f(nil, 100, 10)
}

// Whatever the texts and the shares, every passage is in exactly one part, in order.
func TestCutLosesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		rank := &ipc.Rank{Query: "q", Passages: make([]string, 1+random.IntN(40))}
		for i := range rank.Passages {
			rank.Passages[i] = strings.Repeat("x", random.IntN(1000))
		}
		shares := make([]share, 1+random.IntN(5))
		for i := range shares {
			shares[i].load = random.Int64N(20_000)
		}
		work := textBytes(rank)
		shares = divide(shares, work, random.Int64N(work/2+1))
		var joined []string
		for _, part := range cut(rank, shares) {
			if int(part.first) != len(joined) || len(part.rank.Passages) == 0 {
				t.Fatalf("a part of %d begins at %d, after %d", len(part.rank.Passages), part.first, len(joined))
			}
			joined = append(joined, part.rank.Passages...)
		}
		if !slices.Equal(joined, rank.Passages) {
			t.Fatalf("got %d of %d passages", len(joined), len(rank.Passages))
		}
	}
}

// pair is a pool before two Tasks that splits from two passages on.
func pair(t *testing.T, first, second ipctest.Options) (*Pool, *ipctest.Task, *ipctest.Task) {
	t.Helper()
	one, two := ipctest.Start(t, first), ipctest.Start(t, second)
	p := startPool(t, func(o *Options) { o.SplitPassages = 1 }, one.Address, two.Address)
	for _, m := range p.all() {
		eventually(t, m.address, func() bool { return m.health.Load().state == ready })
	}
	return p, one, two
}

func large(n int) *ipc.Rank {
	r := &ipc.Rank{ID: "large", Query: "one green tea", Truncate: ipc.TruncateNone}
	for i := range n {
		r.Passages = append(r.Passages, strings.Repeat("tea ", 1+i%7)+"green")
	}
	return r
}

func (p *Pool) rankWithin(rank *ipc.Rank) (*ipc.Scores, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	scores, _, err := p.Rank(ctx, rank)
	return scores, err
}

func TestASplitRequestIsAnsweredAsIfByOneTask(t *testing.T) {
	p, one, two := pair(t, ipctest.Options{}, ipctest.Options{})
	whole := startPool(t, nil, one.Address)
	want, err := whole.rankWithin(large(101))
	if err != nil {
		t.Fatal(err)
	}
	before := one.Ranks.Load()
	got, err := p.rankWithin(large(101))
	if err != nil {
		t.Fatal(err)
	}
	if one.Ranks.Load() != before+1 || two.Ranks.Load() != 1 || p.options.Metrics.RequestsSplit.Get() != 1 {
		t.Fatalf("parts: %d and %d; counted %d", one.Ranks.Load()-before, two.Ranks.Load(), p.options.Metrics.RequestsSplit.Get())
	}
	want.Batches *= 2
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got\n%+v, want\n%+v", got, want)
	}
}

func TestFiguresOfParts(t *testing.T) {
	figures := func(queue, tokenize, call uint64, truncated uint32) ipctest.Options {
		return ipctest.Options{Rank: func(r *ipctest.Request) {
			s := r.Scores()
			s.QueueUS, s.TokenizeUS, s.PublicTaskCallWallUS, s.Truncated, s.PaddingTokens, s.Batches = queue, tokenize, call, truncated, 11, 3
			r.Reply(s)
		}}
	}
	p, _, _ := pair(t, figures(50, 40, 900, 2), figures(800, 5, 100, 1))
	s, err := p.rankWithin(large(10))
	if err != nil {
		t.Fatal(err)
	}
	if s.QueueUS != 50 || s.TokenizeUS != 40 || s.PublicTaskCallWallUS != 900 {
		t.Errorf("times are not those of the part that took longest: %+v", s)
	}
	if s.Truncated != 3 || s.PaddingTokens != 22 || s.Batches != 6 {
		t.Errorf("counts are not sums: %+v", s)
	}
}

func TestWhatIsNotSplit(t *testing.T) {
	f := func(what string, change func(*ipc.Welcome), passages int) {
		t.Helper()
		other := ipctest.DefaultWelcome()
		change(&other)
		p, one, two := pair(t, ipctest.Options{}, ipctest.Options{Welcome: other})
		if _, err := p.rankWithin(large(passages)); err != nil {
			t.Fatal(err)
		}
		if one.Ranks.Load()+two.Ranks.Load() != 1 {
			t.Errorf("%s: split", what)
		}
	}
	f("one passage", func(*ipc.Welcome) {}, 1)
	f("another model", func(w *ipc.Welcome) { w.Model = "other" }, 50)
	f("another revision", func(w *ipc.Welcome) { w.Revision = "2" }, 50)
	f("another bundle", func(w *ipc.Welcome) { w.BundleDigest = "sha256:" + strings.Repeat("0", 64) }, 50)
	f("another precision", func(w *ipc.Welcome) { w.Precision = "int8" }, 50)

	listwise := ipctest.DefaultWelcome()
	listwise.Pointwise = false
	p, one, two := pair(t, ipctest.Options{Welcome: listwise}, ipctest.Options{Welcome: listwise})
	if _, err := p.rankWithin(large(50)); err != nil || one.Ranks.Load()+two.Ranks.Load() != 1 {
		t.Errorf("not pointwise: %v, %d ranks", err, one.Ranks.Load()+two.Ranks.Load())
	}
}

// limited refuses passages of more than four words as a Task does.
func limited(r *ipctest.Request) {
	e := &ipc.Error{ID: r.ID, Code: ipc.CodeInputTooLong, Message: "too long", Offending: new(uint32), MaxTokens: new(uint32)}
	*e.MaxTokens = 4
	for i, passage := range r.Passages {
		words := uint32(len(strings.Fields(passage)))
		if words <= 4 {
			continue
		}
		if *e.Offending++; e.Passage == nil {
			at := uint32(i)
			e.Passage, e.Tokens = &at, &words
		}
	}
	if e.Passage == nil {
		ipctest.Answer(r)
		return
	}
	r.Reply(e)
}

// The first passage that is too long, and how many are, are those of the whole request, whichever parts they are in.
func TestTooLongInParts(t *testing.T) {
	f := func(at ...int) {
		t.Helper()
		p, one, two := pair(t, ipctest.Options{Rank: limited}, ipctest.Options{Rank: limited})
		rank := &ipc.Rank{ID: "r", Query: "q", Truncate: ipc.TruncateNone, Passages: slices.Repeat([]string{"some four words here"}, 40)}
		for i, index := range at {
			rank.Passages[index] = "this makes five words and" + strings.Repeat(" more", i)
		}
		_, err := p.rankWithin(rank)
		var answer *ipc.Error
		if !errors.As(err, &answer) || answer.Code != ipc.CodeInputTooLong {
			t.Fatalf("%v: %v", at, err)
		}
		if *answer.Passage != uint32(at[0]) || *answer.Tokens != 5 || *answer.Offending != uint32(len(at)) || *answer.MaxTokens != 4 {
			t.Errorf("%v: passage %d of %d tokens, one of %d", at, *answer.Passage, *answer.Tokens, *answer.Offending)
		}
		if one.Ranks.Load() != 1 || two.Ranks.Load() != 1 {
			t.Errorf("%v: not split", at)
		}
	}
	f(0)
	f(39)
	f(3, 4, 38)
	f(30, 31)
}

func TestAFailedPartFailsTheRequestAndEndsTheOthers(t *testing.T) {
	passage := uint32(1)
	refuse := ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendRejectedRequest, Message: "no", Passage: &passage})
	p, one, two := pair(t, ipctest.Options{Rank: ipctest.Late}, ipctest.Options{Rank: refuse})
	_, err := p.rankWithin(large(50))
	var answer *ipc.Error
	if !errors.As(err, &answer) || answer.Code != ipc.CodeBackendRejectedRequest {
		t.Fatalf("got %v", err)
	}
	eventually(t, "the cancel", func() bool { return one.Cancels.Load() == 1 })
	if *answer.Passage < 2 || two.Ranks.Load() != 1 {
		t.Errorf("the error names passage %d, which is that of the part", *answer.Passage)
	}
}

func TestTheEndOfASplitRequest(t *testing.T) {
	p, one, two := pair(t, ipctest.Options{Rank: ipctest.Late}, ipctest.Options{Rank: ipctest.Late})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := p.Rank(ctx, large(50)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	eventually(t, "the cancels", func() bool { return one.Cancels.Load() == 1 && two.Cancels.Load() == 1 })
	eventually(t, "nothing outstanding", func() bool { return p.all()[0].outstanding.Load()+p.all()[1].outstanding.Load() == 0 })
}

// A part whose Task dies goes to another, as a whole request would.
func TestAPartIsSentAgainWhenItsTaskDies(t *testing.T) {
	var died atomic.Bool
	p, one, two := pair(t, ipctest.Options{}, ipctest.Options{})
	two.SetRank(func(r *ipctest.Request) {
		died.Store(true)
		go two.Stop()
	})
	rank := large(60)
	scores, err := p.rankWithin(rank)
	if err != nil {
		t.Fatal(err)
	}
	for i, passage := range rank.Passages {
		if scores.Scores[i] != ipctest.Score(rank.Query, passage) {
			t.Fatalf("passage %d has the score of another", i)
		}
	}
	if !died.Load() || one.Ranks.Load() != 2 {
		t.Errorf("the first Task has had %d parts", one.Ranks.Load())
	}
}

// A Task is replaced by one with another model after the request has been split.
func TestPartsOfDifferentModelsAreNotMixed(t *testing.T) {
	p, _, two := pair(t, ipctest.Options{}, ipctest.Options{})
	rank := large(60)
	parts := p.split(rank)
	newer := ipctest.DefaultWelcome()
	newer.Revision = "2"
	two.SetWelcome(newer)
	two.SetRank(func(r *ipctest.Request) {
		s := r.Scores()
		for i := range s.Scores {
			s.Scores[i] += 1000
		}
		r.Reply(s)
	})
	two.Disconnect()
	eventually(t, "the newer model", func() bool { return p.all()[1].served().Revision == "2" })
	scores, task, err := p.rankParts(t.Context(), rank, parts)
	if err != nil {
		t.Fatal(err)
	}
	if two.Ranks.Load() == 0 || !mixed(parts) {
		t.Fatal("the newer model was not asked")
	}
	for i, passage := range rank.Passages {
		want := ipctest.Score(rank.Query, passage)
		if task.Revision == "2" {
			want += 1000
		}
		if scores.Scores[i] != want {
			t.Fatalf("passage %d has the score of another model", i)
		}
	}
}

func TestASickTaskIsPassedOverAndReturns(t *testing.T) {
	sick := ipctest.Start(t, ipctest.Options{})
	well := ipctest.Start(t, ipctest.Options{})
	p := startPool(t, func(o *Options) { o.PingTimeout, o.MuteTimeout = 20*time.Millisecond, 60*time.Millisecond }, sick.Address, well.Address)
	member := p.all()[0]
	eventually(t, "both", func() bool { return member.health.Load().state == ready && p.all()[1].health.Load().state == ready })
	sick.Freeze()
	eventually(t, "ejection", func() bool { return member.health.Load().state == down })
	for i := range 20 {
		mustRank(t, p, fmt.Sprint("without-", i))
	}
	sick.Thaw()
	eventually(t, "return", func() bool { return member.health.Load().state == ready })
	before := sick.Ranks.Load()
	for i := range 20 {
		mustRank(t, p, fmt.Sprint("with-", i))
	}
	if sick.Ranks.Load() == before {
		t.Error("a Task that has recovered gets nothing")
	}
}

// A Task that fails at once has nothing outstanding; it must not draw all requests to itself.
func TestATaskThatFailsIsPassedOverForAWhile(t *testing.T) {
	p, one, _ := pair(t, ipctest.Options{Rank: ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendFailed, Message: "broken"})}, ipctest.Options{})
	failed := 0
	for i := range 20 {
		if _, err := rank(p, fmt.Sprint("r-", i)); err != nil {
			failed++
		}
	}
	if one.Ranks.Load() != int64(failed) || failed == 0 || failed > 5 {
		t.Fatalf("%d of 20 failed", failed)
	}
	one.SetRank(ipctest.Answer)
	eventually(t, "its return", func() bool { mustRank(t, p, "r"); return one.Ranks.Load() > int64(failed) })
}

// A rank that crosses with the Task's leave-taking is turned away unscored; with another Task ready no client notices.
func TestATaskThatTurnsRanksAwayCostsNothingWhileAnotherIsReady(t *testing.T) {
	refuse := ipctest.Options{Rank: ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendUnavailable, Message: "the Task is draining"})}
	p, one, two := pair(t, refuse, ipctest.Options{})
	for i := range 20 {
		mustRank(t, p, fmt.Sprint("r-", i))
	}
	if one.Ranks.Load() == 0 || two.Ranks.Load() != 20 {
		t.Errorf("%d and %d ranks", one.Ranks.Load(), two.Ranks.Load())
	}
	two.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendUnavailable, Message: "no memory"}))
	before := one.Ranks.Load() + two.Ranks.Load()
	if _, err := rank(p, "both"); err == nil {
		t.Error("scored by Tasks that both turn ranks away")
	}
	if sent := one.Ranks.Load() + two.Ranks.Load() - before; sent > 2 {
		t.Errorf("sent %d times", sent)
	}
}
