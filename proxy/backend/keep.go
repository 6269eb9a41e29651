package backend

import (
	"context"
	"fmt"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// maxDialPause bounds how long a returning Task goes unnoticed when no request comes.
const maxDialPause = 400 * time.Millisecond

var connectionEnded = health{down, "the connection to the Task has ended"}

// keep holds a connection open and watches it until ctx ends.
func (m *member) keep(ctx context.Context) {
	defer m.Metrics.Forget(m.figures)
	defer m.close()
	for pause := redialPause; ctx.Err() == nil; {
		conn, err := m.connection(ctx)
		if err != nil {
			m.Log.Debug().Err(err).Msg("cannot connect to the Task")
			sleep(ctx, pause)
			pause = min(2*pause, maxDialPause)
			continue
		}
		pause = redialPause
		m.watch(ctx, conn)
	}
}

// close ends the connection, also one that is being made.
func (m *member) close() {
	m.mu.Lock()
	d := m.dialing
	m.mu.Unlock()
	if d != nil {
		<-d.done
	}
	if conn := m.conn.Load(); conn != nil {
		conn.Close()
	}
}

// watch pings over conn until it ends, drains, or has been mute for the stall timeout.
func (m *member) watch(ctx context.Context, conn *ipc.Conn) {
	defer m.figures.Lost()
	heard := time.Now()
	for ctx.Err() == nil {
		pong, err := m.ping(ctx, conn)
		switch {
		case !usable(conn):
			m.note(conn, connectionEnded)
			return
		case err == nil:
			heard = time.Now()
			m.judge(conn, pong)
		case time.Since(heard) > m.StallTimeout:
			m.note(conn, health{down, "the Task hangs"})
			conn.Close()
			return
		case time.Since(heard) > m.MuteTimeout:
			m.note(conn, health{down, "the Task answers no ping"})
		default:
			m.note(conn, health{slow, "the Task is late with its answer to a ping"})
		}
		pauseUnlessEnded(ctx, conn, m.PingInterval)
	}
}

func (m *member) ping(ctx context.Context, conn *ipc.Conn) (*ipc.Pong, error) {
	ctx, cancel := context.WithTimeout(ctx, m.PingTimeout)
	defer cancel()
	return conn.Ping(ctx)
}

// judge turns a pong into readiness.
func (m *member) judge(conn *ipc.Conn, pong *ipc.Pong) {
	m.figures.Heard(pong)
	switch {
	case !pong.Ready:
		m.note(conn, health{down, "the Task says that it is not ready"})
	case pong.OldestCallMS > uint64(m.StallTimeout.Milliseconds()):
		m.note(conn, health{down, fmt.Sprintf("a call of the Task has been running for more than %v", m.StallTimeout)})
	default:
		m.note(conn, health{state: ready})
	}
}

// note records what was learnt over conn, unless a newer connection has replaced it meanwhile.
func (m *member) note(conn *ipc.Conn, now health) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn.Load() != conn || *m.health.Load() == now {
		return
	}
	m.health.Store(&now)
	m.figures.Up(now.state == ready)
	if now.state == ready {
		m.Log.Info().Msg("the Task is ready")
	} else {
		m.Log.Warn().Str("why", now.why).Msg("the Task is not ready")
	}
}

func pauseUnlessEnded(ctx context.Context, conn *ipc.Conn, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-conn.Done():
	case <-conn.Draining():
	case <-ctx.Done():
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
