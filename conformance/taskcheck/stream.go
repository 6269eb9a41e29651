package taskcheck

import (
	"errors"
	"fmt"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// pieces writes data a few bytes at a time.
func pieces(s *session, data []byte, size int) error {
	for len(data) > 0 {
		n := min(size, len(data))
		if err := s.write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
		time.Sleep(time.Millisecond)
	}
	return nil
}

func helloInPieces(socket string) error {
	frame, err := ipc.AppendFrame(nil, 0, &ipc.Hello{Protocol: ipc.ProtocolVersion, Client: "ranking-conformance/1"})
	if err != nil {
		return err
	}
	s, err := dial(socket)
	if err != nil {
		return err
	}
	defer s.close()
	if err := pieces(s, frame, 1); err != nil {
		return err
	}
	return helloAnswered(s, &ipc.Hello{Protocol: ipc.ProtocolVersion})
}

var rankInPieces = onSession(func(s *session, _ *ipc.Welcome) error {
	r := rank("pieces", "p", "r")
	frame, err := ipc.AppendFrame(nil, 1, r)
	if err != nil {
		return err
	}
	if err := pieces(s, frame, 1); err != nil {
		return err
	}
	return rankAnswered(s, 1, r)
})

var framesJoined = onSession(func(s *session, _ *ipc.Welcome) error {
	first, second := rank("first", "p"), rank("second", "r", "s")
	joined, err := ipc.AppendFrame(nil, 1, first)
	if err == nil {
		joined, err = ipc.AppendFrame(joined, 2, second)
	}
	if err != nil {
		return err
	}
	if err := s.write(joined); err != nil {
		return err
	}
	return collect(s, map[uint64]*ipc.Rank{1: first, 2: second})
})

// halfFrames leaves at every byte boundary of a rank, each time on a new connection.
func halfFrames(socket string) error {
	frame, err := ipc.AppendFrame(nil, 1, rank("half", "p"))
	if err != nil {
		return err
	}
	for cut := 1; cut < len(frame); cut++ {
		half := vector{raw: frame[:cut]}
		if err := half.leave(socket); err != nil {
			return fmt.Errorf("cut after %d bytes: %w", cut, err)
		}
	}
	return nil
}

func (v *vector) leave(socket string) error {
	s, _, err := greeted(socket)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.write(v.raw); err != nil {
		return err
	}
	return v.abandoned(s)
}

func protocolErrorSparesOthers(socket string) error {
	good, _, err := greeted(socket)
	if err != nil {
		return err
	}
	defer good.close()
	bad, _, err := greeted(socket)
	if err != nil {
		return err
	}
	defer bad.close()
	if err := bad.write([]byte("GET / HTTP/1.1\r\nHost: task\r\n\r\n")); err != nil {
		return err
	}
	if err := bad.refused(ipc.CodeProtocolError); err != nil {
		return err
	}
	_, err = scored(good, 1, rank("spared", "p"))
	return err
}

// leftWhileRanking shuts down the sending side with ranks in flight. Answers that were on their way may still come.
var leftWhileRanking = onSession(func(s *session, _ *ipc.Welcome) error {
	for exchange := uint64(1); exchange <= 4; exchange++ {
		if err := s.send(exchange, rank(fmt.Sprint("left", exchange), many(8, 20)...)); err != nil {
			return err
		}
	}
	if err := s.closeWrite(); err != nil {
		return err
	}
	for range 5 {
		if _, err := s.next(); err != nil {
			return isEnd(err)
		}
	}
	return errors.New("more answers than ranks")
})
