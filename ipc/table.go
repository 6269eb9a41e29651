package ipc

// table is the fields of the message M, at most 64, in the order of sending.
type table[M any] []field[M]

// field is one row of a table of PROTOCOL.md, section 5.
type field[M any] struct {
	key     string
	present func(*M) bool // whether to send it; nil: the field is required
	read    func(*decoder, *M)
	write   func(*encoder, *M)
}

func (f *field[M]) sent(m *M) bool { return f.present == nil || f.present(m) }

// checked is a message with a rule over more than one field.
type checked interface{ check() *ProtocolError }

func check(m any) *ProtocolError {
	if c, ok := m.(checked); ok {
		return c.check()
	}
	return nil
}

func (t table[M]) encode(e *encoder, message Message) {
	m := any(message).(*M)
	n := 0
	for i := range t {
		if t[i].sent(m) {
			n++
		}
	}
	e.mp.EncodeMapLen(n)
	for i := range t {
		if t[i].sent(m) {
			e.key = t[i].key
			e.mp.EncodeString(e.key)
			t[i].write(e, m)
		}
	}
	e.fail(check(message))
}

func (t table[M]) decode(d *decoder) Message {
	m := new(M)
	if k, ok := d.next(); ok && k != kindMap {
		d.failf(ClassNotAMap, "%s", k)
	}
	var have uint64
	for key := range d.entries() {
		i := t.index(key)
		if i < 0 {
			d.skip(2)
			continue
		}
		have |= 1 << i
		d.key = t[i].key
		t[i].read(d, m)
		d.key = ""
	}
	t.finish(d, m, have)
	return any(m).(Message)
}

// index returns the row of key, or -1.
func (t table[M]) index(key []byte) int {
	for i := range t {
		if t[i].key == string(key) {
			return i
		}
	}
	return -1
}

func (t table[M]) finish(d *decoder, m *M, have uint64) {
	if n := d.src.remaining(); n > 0 {
		d.failf(ClassTrailingBytes, "%d bytes behind the map", n)
	}
	for i := range t {
		if t[i].present == nil && have&(1<<i) == 0 {
			d.failf(ClassMissingField, "%s", t[i].key)
		}
	}
	d.fail(check(m))
}
