// Package ratesearch finds the highest request rate that a server sustains.
package ratesearch

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Search tries rates (requests a second) from first on, doubling while sustained holds and halving while it does not, then bisects until
// the bounds are within tolerance (such as 0.05 for 5 %) of one another. It returns the highest rate sustained.
func Search(ctx context.Context, first, tolerance float64, sustained func(context.Context, float64) (bool, error)) (float64, error) {
	if first <= 0 || tolerance <= 0 {
		return 0, errors.New("a search needs a positive rate to begin with and a positive tolerance")
	}
	low, high, err := bracket(ctx, first, sustained)
	if err != nil {
		return 0, err
	}
	for high > low*(1+tolerance) {
		middle := math.Sqrt(low * high)
		ok, err := sustained(ctx, middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// maxSteps bounds the way from the first rate to a bracket: a factor of about a million up or down.
const maxSteps = 20

// bracket finds a rate that is sustained and twice that, which is not.
func bracket(ctx context.Context, first float64, sustained func(context.Context, float64) (bool, error)) (low, high float64, err error) {
	ok, err := sustained(ctx, first)
	if err != nil {
		return 0, 0, err
	}
	rate, wasOK := first, ok
	for range maxSteps {
		next := rate / 2
		if wasOK {
			next = rate * 2
		}
		if ok, err = sustained(ctx, next); err != nil {
			return 0, 0, err
		}
		if ok != wasOK {
			return min(rate, next), max(rate, next), nil
		}
		rate = next
	}
	if wasOK {
		return 0, 0, fmt.Errorf("still sustained at %g requests a second", rate)
	}
	return 0, 0, fmt.Errorf("not sustained even at %g requests a second", rate)
}
