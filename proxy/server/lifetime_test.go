package server

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestLifetimeEndsOnceAndForTheFirstReason(t *testing.T) {
	f := func(limit time.Duration, leave bool, want error) {
		t.Helper()
		l := beginLifetime(limit)
		defer l.finish()
		if leave {
			l.leave()
			l.leave()
		}
		select {
		case <-l.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("did not end")
		}
		if l.Err() != want {
			t.Fatalf("got %v, want %v", l.Err(), want)
		}
	}
	f(time.Hour, true, context.Canceled)
	f(0, false, context.DeadlineExceeded)
	f(time.Millisecond, false, context.DeadlineExceeded)
}

// A lifetime that is used again must not be ended by what belonged to an earlier use.
func TestLifetimesAreNotMixedUp(t *testing.T) {
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			for i := range 2000 {
				if i%3 == 0 {
					short := beginLifetime(time.Duration(i%50) * time.Microsecond)
					short.finish()
					continue
				}
				long := beginLifetime(time.Hour)
				if left := time.Until(long.deadline); long.Err() != nil || left < time.Minute {
					t.Errorf("begins as %v with %v left", long.Err(), left)
				}
				time.Sleep(time.Microsecond)
				if long.Err() != nil {
					t.Errorf("ended by another's timer: %v", long.Err())
				}
				long.finish()
			}
		})
	}
	users.Wait()
}
