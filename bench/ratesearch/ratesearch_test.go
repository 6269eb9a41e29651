package ratesearch

import (
	"context"
	"errors"
	"testing"
)

func TestSearchFindsTheKnee(t *testing.T) {
	f := func(first, capacity float64) {
		t.Helper()
		tries := 0
		got, err := Search(context.Background(), first, 0.05, func(_ context.Context, rate float64) (bool, error) {
			tries++
			return rate <= capacity, nil
		})
		if err != nil || got > capacity || got < capacity/1.05 {
			t.Errorf("from %g: got %g, %v; want within 5 %% below %g", first, got, err, capacity)
		}
		if tries > 25 {
			t.Errorf("from %g: %d measurements", first, tries)
		}
	}
	f(10, 777)
	f(1000, 777)
	f(777, 777)
	f(1, 0.3)
	f(1, 20_000)
}

func TestSearchEnds(t *testing.T) {
	f := func(answer bool, failure error) {
		t.Helper()
		if rate, err := Search(context.Background(), 1, 0.05, func(context.Context, float64) (bool, error) { return answer, failure }); err == nil {
			t.Errorf("got %g without an error", rate)
		}
	}
	f(true, nil)
	f(false, nil)
	f(true, errors.New("server gone"))
}
