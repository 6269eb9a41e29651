package backend

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// rescanInterval bounds how long a socket that appears or goes is not noticed.
const rescanInterval = time.Second

// IsPattern tells whether an address of Options.Sockets stands for every socket file that it matches, as filepath.Match has it. The
// copies of a scaled service each have a socket of their own in one folder, and nobody knows their names beforehand.
func IsPattern(address string) bool {
	return !strings.HasPrefix(address, "@") && strings.ContainsAny(address, "*?[")
}

// follow keeps the members in step with the files that match, until ctx ends.
func (p *Pool) follow(ctx context.Context) {
	for sleep(ctx, rescanInterval); ctx.Err() == nil; sleep(ctx, rescanInterval) {
		p.rescan(ctx)
	}
}

func (p *Pool) rescan(ctx context.Context) {
	found := p.matches()
	members := slices.DeleteFunc(slices.Clone(p.all()), func(m *member) bool {
		gone := !slices.Contains(p.fixed, m.address) && !slices.Contains(found, m.address) && m.idle()
		if gone {
			m.stop()
		}
		return gone
	})
	for _, address := range found {
		if !slices.ContainsFunc(members, func(m *member) bool { return m.address == address }) {
			members = append(members, p.startMember(ctx, address))
		}
	}
	p.members.Store(&members)
}

func (p *Pool) matches() []string {
	var found []string
	for _, pattern := range p.patterns {
		sockets, _ := filepath.Glob(pattern) // config has checked the pattern
		found = append(found, sockets...)
	}
	return found
}

// idle tells whether nothing would be lost with the member. A Task that drains removes its socket first and still answers.
func (m *member) idle() bool { return m.health.Load().state == down && m.outstanding.Load() == 0 }
