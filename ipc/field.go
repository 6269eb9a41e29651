package ipc

// optional makes f a field that is sent if present says so. Its reader is not called for an absent one.
func optional[M any](f field[M], present func(*M) bool) field[M] {
	f.present = present
	return f
}

// always is the presence of an optional field that this side has a value for every time.
func always[M any](*M) bool { return true }

func text[M any, S ~string](key string, rule textRule, at func(*M) *S) field[M] {
	return field[M]{
		key:   key,
		read:  func(d *decoder, m *M) { *at(m) = S(d.text(rule)) },
		write: func(e *encoder, m *M) { e.text(string(*at(m)), rule) },
	}
}

// oneOf is a string out of a closed list.
func oneOf[M any, S ~string](key string, at func(*M) *S, values ...S) field[M] {
	listed := func(s string) bool {
		for _, v := range values {
			if s == string(v) {
				return true
			}
		}
		return false
	}
	return text(key, textRule{limit: MaxShort, class: ClassBadValue, valid: listed}, at)
}

func boolean[M any](key string, at func(*M) *bool) field[M] {
	return field[M]{
		key:   key,
		read:  func(d *decoder, m *M) { *at(m) = d.boolean() },
		write: func(e *encoder, m *M) { e.boolean(*at(m)) },
	}
}

// bounds of an integer, both inclusive.
type bounds struct{ low, high uint64 }

var (
	any32 = bounds{0, 1<<32 - 1}
	any64 = bounds{0, 1<<64 - 1}
)

func integer[M any, N uint16 | uint32 | uint64](key string, b bounds, at func(*M) *N) field[M] {
	return field[M]{
		key:   key,
		read:  func(d *decoder, m *M) { *at(m) = N(d.uint(b.low, b.high)) },
		write: func(e *encoder, m *M) { e.uint(uint64(*at(m)), b.low, b.high) },
	}
}

// nonzero is an optional integer whose 0 means absence.
func nonzero[M any](key string, b bounds, at func(*M) *uint32) field[M] {
	return optional(integer(key, b, at), func(m *M) bool { return *at(m) != 0 })
}

// pointer is an optional integer whose 0 is a value, nil being its absence.
func pointer[M any](key string, at func(*M) **uint32) field[M] {
	return field[M]{
		key:     key,
		present: func(m *M) bool { return *at(m) != nil },
		read:    func(d *decoder, m *M) { *at(m) = new(uint32(d.uint(any32.low, any32.high))) },
		write:   func(e *encoder, m *M) { e.uint(uint64(**at(m)), any32.low, any32.high) },
	}
}

// texts is an array of strings that the payload bounds.
func texts[M any](key string, limit int, at func(*M) *[]string) field[M] {
	return field[M]{
		key: key,
		read: func(d *decoder, m *M) {
			v := make([]string, d.array(limit))
			for i := range v {
				v[i] = d.text(payloadText)
			}
			*at(m) = v
		},
		write: func(e *encoder, m *M) {
			e.array(len(*at(m)), limit)
			for _, s := range *at(m) {
				e.text(s, payloadText)
			}
		},
	}
}

// numbers is an optional map of integers; an empty one is as good as absent.
func numbers[M any](key string, at func(*M) *map[string]uint64) field[M] {
	return field[M]{
		key:     key,
		present: func(m *M) bool { return len(*at(m)) > 0 },
		read: func(d *decoder, m *M) {
			*at(m) = readMap(d, func() uint64 { return d.uint(any64.low, any64.high) })
		},
		write: func(e *encoder, m *M) {
			mapOf(e, *at(m), func(n uint64) { e.uint(n, any64.low, any64.high) })
		},
	}
}

// histograms is an optional map of arrays of integers; an empty one is as good as absent.
func histograms[M any](key string, at func(*M) *map[string][]uint64) field[M] {
	return field[M]{
		key:     key,
		present: func(m *M) bool { return len(*at(m)) > 0 },
		read: func(d *decoder, m *M) {
			*at(m) = readMap(d, func() []uint64 {
				buckets := make([]uint64, d.array(maxElements))
				for i := range buckets {
					buckets[i] = d.uint(any64.low, any64.high)
				}
				return buckets
			})
		},
		write: func(e *encoder, m *M) {
			mapOf(e, *at(m), func(buckets []uint64) {
				e.array(len(buckets), maxElements)
				for _, n := range buckets {
					e.uint(n, any64.low, any64.high)
				}
			})
		},
	}
}

// readMap returns nil for an empty map.
func readMap[V any](d *decoder, value func() V) map[string]V {
	var m map[string]V
	for key := range d.entries() {
		if m == nil {
			m = make(map[string]V)
		}
		m[string(key)] = value()
	}
	return m
}
