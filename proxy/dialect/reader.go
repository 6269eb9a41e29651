package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"trtmc-ranking-proxy/proxy/ranking"
)

// reader reads one JSON document strictly: UTF-8 without lone surrogates, no name twice in an object, no unknown fields,
// nothing behind the end. Every error is a [*ranking.Error] that says where, by path and byte offset.
//
// All strings it returns lie in one arena allocated per document, so that 32 passages cost one allocation and not 32.
type reader struct {
	decoder jsontext.Decoder
	input   bytes.Buffer
	arena   []byte
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// readDocument runs value over body and then demands the end of the document.
func readDocument(body []byte, value func(r *reader) error) error {
	r := readers.Get().(*reader)
	defer r.release()
	// A bytes.Buffer is read in place by the decoder. Unescaping never makes a string longer, so the arena never grows.
	r.input = *bytes.NewBuffer(body)
	r.decoder.Reset(&r.input)
	r.arena = make([]byte, 0, len(body))
	if err := value(r); err != nil {
		return err
	}
	return r.end()
}

// release drops every reference to the document before the reader is pooled.
func (r *reader) release() {
	r.input, r.arena = bytes.Buffer{}, nil
	r.decoder.Reset(&r.input)
	readers.Put(r)
}

// object reads an object, calling field for each name; field must read the value or return an error.
func (r *reader) object(field func(name string) error) error {
	if err := r.begin(jsontext.KindBeginObject, "an object"); err != nil {
		return err
	}
	for r.decoder.PeekKind() == jsontext.KindString {
		name, err := r.string()
		if err != nil {
			return err
		}
		if err := field(name); err != nil {
			return err
		}
	}
	return r.token()
}

// maxElements bounds an array before it is read to its end: the smallest elements take up several times their JSON in memory. It is
// the cap of ipc/PROTOCOL.md, section 3, so no Task takes more.
const maxElements = 16384

// array reads an array, calling element for each element; element must read it or return an error.
func (r *reader) array(element func() error) error {
	if err := r.begin(jsontext.KindBeginArray, "an array"); err != nil {
		return err
	}
	count := 0
	for kind := r.decoder.PeekKind(); kind != jsontext.KindEndArray && kind != 0; kind = r.decoder.PeekKind() {
		read := element
		if count++; count > maxElements {
			read = r.skip // and count on, to be able to say how many there are
		}
		if err := read(); err != nil {
			return err
		}
	}
	if err := r.token(); err != nil || count <= maxElements {
		return err
	}
	return ranking.Invalid("too_many_passages", fmt.Sprintf("%d elements are more than the maximum of %d", count, maxElements), r.offset())
}

// text reads a string.
func (r *reader) text() (string, error) {
	if r.decoder.PeekKind() != jsontext.KindString {
		return "", r.wrongType("a string")
	}
	return r.string()
}

// null consumes a null if one is next.
func (r *reader) null() bool {
	if r.decoder.PeekKind() != jsontext.KindNull {
		return false
	}
	return r.token() == nil
}

// skip passes over a value, which must be well formed all the same.
func (r *reader) skip() error { return syntaxError(r.decoder.SkipValue()) }

// optionalBool reads a boolean; a null leaves into as it is.
func (r *reader) optionalBool(into *bool) error {
	if r.null() {
		return nil
	}
	if kind := r.decoder.PeekKind(); kind != jsontext.KindTrue && kind != jsontext.KindFalse {
		return r.wrongType("a boolean")
	}
	token, err := r.decoder.ReadToken()
	if err == nil {
		*into = token.Bool()
	}
	return syntaxError(err)
}

// optionalCount reads a whole number of at least 1; a null leaves into as it is.
func (r *reader) optionalCount(into *uint32) error {
	if r.null() {
		return nil
	}
	if r.decoder.PeekKind() != jsontext.KindNumber {
		return r.wrongType("a number")
	}
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return syntaxError(err)
	}
	count, err := strconv.ParseUint(string(raw), 10, 31)
	if err != nil || count == 0 {
		return ranking.Invalid("bad_count", r.path()+" must be a whole number of at least 1", r.offset())
	}
	*into = uint32(count)
	return nil
}

// texts reads an array of strings. It never returns nil.
func (r *reader) texts() ([]string, error) {
	texts := make([]string, 0, 32)
	err := r.array(func() error {
		text, err := r.text()
		texts = append(texts, text)
		return err
	})
	return texts, err
}

// unknownField refuses the field whose name was just read.
func (r *reader) unknownField() error {
	return ranking.Invalid("unknown_field", "unknown field "+r.path(), r.offset())
}

// missingField refuses the object just read, which lacks the named field.
func (r *reader) missingField(name string) error {
	path := name
	if parent := r.path(); parent != "" {
		path = parent + "." + name
	}
	return ranking.Invalid("missing_field", "missing field "+path, r.offset())
}

func (r *reader) begin(kind jsontext.Kind, want string) error {
	if r.decoder.PeekKind() != kind {
		return r.wrongType(want)
	}
	return r.token()
}

// string reads a string or a name that PeekKind has announced.
func (r *reader) string() (string, error) {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return "", syntaxError(err)
	}
	start := len(r.arena)
	if bytes.IndexByte(raw, '\\') < 0 { // most texts; the decoder has checked them, and a copy is twice as quick
		r.arena = append(r.arena, raw[1:len(raw)-1]...)
	} else if r.arena, err = jsontext.AppendUnquote(r.arena, raw); err != nil {
		return "", syntaxError(err)
	}
	text := r.arena[start:]
	return unsafe.String(unsafe.SliceData(text), len(text)), nil // the arena is only ever appended to
}

func (r *reader) token() error {
	_, err := r.decoder.ReadToken()
	return syntaxError(err)
}

func (r *reader) end() error {
	if _, err := r.decoder.ReadToken(); err == nil {
		return ranking.Invalid("trailing_data", "there is more behind the JSON document", r.offset())
	} else if err != io.EOF {
		return syntaxError(err)
	}
	return nil
}

// wrongType reads the token at fault, so that path names its place, and says what it is.
func (r *reader) wrongType(want string) error {
	token, err := r.decoder.ReadToken()
	if err != nil {
		return syntaxError(err)
	}
	place := r.path()
	if place == "" {
		place = "the body"
	}
	return ranking.Invalid("wrong_type", place+" must be "+want+", not "+kindNames[token.Kind()], r.offset())
}

var kindNames = map[jsontext.Kind]string{
	jsontext.KindNull: "null", jsontext.KindFalse: "a boolean", jsontext.KindTrue: "a boolean",
	jsontext.KindString: "a string", jsontext.KindNumber: "a number",
	jsontext.KindBeginObject: "an object", jsontext.KindBeginArray: "an array",
}

// path is the place of the last token read, written as passages[3].text.
func (r *reader) path() string { return readablePath(r.decoder.StackPointer()) }

func (r *reader) offset() string {
	return "at byte " + strconv.FormatInt(r.decoder.InputOffset(), 10)
}

func readablePath(pointer jsontext.Pointer) string {
	var path strings.Builder
	for token := range pointer.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			path.WriteString("[" + token + "]")
			continue
		}
		if path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(clip(token))
	}
	return path.String()
}

// syntaxError words what jsontext found, without quoting the document beyond a clipped path.
func syntaxError(err error) error {
	if err == nil {
		return nil
	}
	if err == io.EOF {
		return ranking.Invalid("empty_body", "the body is empty", "a JSON object is expected")
	}
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return ranking.Invalid("bad_json", "the body is not valid JSON", "")
	}
	place := fmt.Sprintf("at byte %d", syntax.ByteOffset)
	if path := readablePath(syntax.JSONPointer); path != "" {
		place += ", in " + path
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return ranking.Invalid("duplicate_field", "the same field stands twice in an object", place)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ranking.Invalid("bad_json", "the JSON document ends too early", place)
	}
	return ranking.Invalid("bad_json", "the body is not valid JSON: "+clip(syntax.Err.Error()), place)
}

// clip bounds what of a client's words goes into an error message.
func clip(s string) string {
	const limit = 100
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
