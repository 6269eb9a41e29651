package backend

import (
	"cmp"
	"slices"

	"trtmc-ranking-proxy/ipc"
)

// share is what of a request's work a Task is to have.
type share struct {
	member *member
	load   int64 // outstanding before
	bytes  int64
}

// split divides a large rank over the Tasks that would give its pairs the same scores, so that their outstanding work becomes equal. It
// returns nil where one Task should have it all.
func (p *Pool) split(rank *ipc.Rank) []part {
	least, n := p.options.SplitPassages, len(rank.Passages)
	if least == 0 || n < 2*least || len(p.all()) < 2 {
		return nil
	}
	work := textBytes(rank)
	shares := divide(p.alike(), work, work/int64(n)*int64(least))
	if len(shares) < 2 {
		return nil
	}
	return cut(rank, shares)
}

// alike are the ready Tasks that serve the very same as the one that would be asked, if pairs are scored each by itself there.
func (p *Pool) alike() (found []share) {
	best := p.pick().served()
	if best == nil || !best.Pointwise {
		return nil
	}
	for _, m := range p.all() {
		if m.standing() == ready && same(m.served(), best) {
			found = append(found, share{member: m, load: m.outstanding.Load()})
		}
	}
	return found
}

// served is what the Task said of itself last, nil if it has not been reached.
func (m *member) served() *ipc.Welcome {
	if m == nil {
		return nil
	}
	if conn := m.conn.Load(); conn != nil {
		return conn.Welcome()
	}
	return nil
}

// same tells whether two Tasks serve the same model in the same form: all that they say but the version of the program.
func same(a, b *ipc.Welcome) bool {
	if a == nil || b == nil {
		return false
	}
	other := *b
	other.Server = a.Server
	return *a == other
}

// divide raises the loads with work, the lowest first, until they are equal. A Task that would get less than least gets none.
func divide(shares []share, work, least int64) []share {
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(a.load, b.load) })
	taking, level, sum := 0, int64(0), work
	for i, s := range shares {
		sum += s.load
		even := sum / int64(i+1)
		if even-s.load < least {
			break
		}
		taking, level = i+1, even
	}
	shares = shares[:taking]
	for i := range shares {
		shares[i].bytes = level - shares[i].load
	}
	return shares
}

// cut gives each share a run of the passages, as near to its size as whole passages come.
func cut(rank *ipc.Rank, shares []share) []part {
	parts := make([]part, 0, len(shares))
	at, done, due := 0, int64(0), int64(0)
	for i, s := range shares {
		due += s.bytes
		from, last := at, i == len(shares)-1
		for at < len(rank.Passages) {
			weight := pairBytes(rank.Query, rank.Passages[at])
			if !last && done+weight/2 >= due {
				break
			}
			done += weight
			at++
		}
		if at > from {
			parts = append(parts, newPart(rank, from, at, s.member))
		}
	}
	return parts
}
