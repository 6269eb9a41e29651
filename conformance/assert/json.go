package assert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/suite"
)

func jsonBody(e *suite.Expect, a *client.Answer) (found []string) {
	body, err := decode(a.Body)
	if err != nil {
		return []string{fmt.Sprintf("the body is not JSON: %v: %s", err, excerpt(a.Body))}
	}
	for path, m := range e.JSON {
		v, ok := lookup(body, path)
		found = append(found, value(path, m, v, ok)...)
	}
	if e.NoNulls {
		found = append(found, nulls("", body)...)
	}
	for _, sum := range e.AtMost {
		found = append(found, atMost(sum, body, a)...)
	}
	return found
}

func decode(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var body any
	if err := decoder.Decode(&body); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("something stands behind the JSON value")
	}
	return body, nil
}

// lookup follows a dotted path; a number is an index where the value is an array.
func lookup(v any, path string) (any, bool) {
	for _, key := range strings.Split(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func nulls(path string, v any) (found []string) {
	switch at := v.(type) {
	case nil:
		return []string{"null at " + strings.TrimPrefix(path, ".")}
	case map[string]any:
		for key, item := range at {
			found = append(found, nulls(path+"."+key, item)...)
		}
	case []any:
		for i, item := range at {
			found = append(found, nulls(fmt.Sprintf("%s.%d", path, i), item)...)
		}
	}
	return found
}

// value checks one value, which may be absent.
func value(name string, m suite.Matcher, v any, present bool) (found []string) {
	if !present || m.Absent {
		if present != m.Absent {
			return nil
		}
		return []string{fmt.Sprintf("%s is present: %t, want %t", name, present, !m.Absent)}
	}
	report := func(format string, args ...any) { found = append(found, name+" "+fmt.Sprintf(format, args...)) }
	if m.Equals != nil && !equal(m.Equals, v) {
		report("is %v, want %v", v, m.Equals)
	}
	if m.Type != "" && !slices.Contains(typesOf(v), m.Type) {
		report("is %v, want a value of type %s", v, m.Type)
	}
	if m.NonEmpty && !filled(v) {
		report("is empty")
	}
	number(m, v, report)
	texts(m, v, report)
	return found
}

func number(m suite.Matcher, v any, report func(string, ...any)) {
	n, ok := v.(float64)
	if m.Min != nil && (!ok || n < *m.Min) {
		report("is %v, want at least %g", v, *m.Min)
	}
	if m.Max != nil && (!ok || n > *m.Max) {
		report("is %v, want at most %g", v, *m.Max)
	}
}

// texts looks into strings as they are and into anything else as JSON.
func texts(m suite.Matcher, v any, report func(string, ...any)) {
	text, ok := v.(string)
	if !ok {
		encoded, _ := json.Marshal(v)
		text = string(encoded)
	}
	for _, part := range m.Contains {
		if !strings.Contains(text, part) {
			report("does not contain %q: %s", part, excerpt([]byte(text)))
		}
	}
	for _, part := range m.NotContains {
		if strings.Contains(text, part) {
			report("contains %q", part)
		}
	}
	if m.Matches != "" && !regexp.MustCompile(m.Matches).MatchString(text) {
		report("does not match %s: %s", m.Matches, excerpt([]byte(text)))
	}
}

func equal(want, got any) bool {
	if n, ok := want.(int); ok { // YAML knows integers, decoded JSON does not
		want = float64(n)
	}
	return reflect.DeepEqual(want, got)
}

func typesOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{"string"}
	case bool:
		return []string{"boolean"}
	case []any:
		return []string{"array"}
	case map[string]any:
		return []string{"object"}
	case float64:
		if v == math.Trunc(v) {
			return []string{"number", "integer"}
		}
		return []string{"number"}
	}
	return nil
}

func filled(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return v != nil
}

func atMost(sum suite.Sum, body any, a *client.Answer) []string {
	total := 0.0
	for _, path := range sum.Parts {
		n, err := amount(path, body, a)
		if err != nil {
			return []string{err.Error()}
		}
		total += n
	}
	whole, err := amount(sum.Whole, body, a)
	if err != nil {
		return []string{err.Error()}
	}
	if total > whole {
		return []string{fmt.Sprintf("%s make %g, more than %s, which is %g", strings.Join(sum.Parts, " + "), total, sum.Whole, whole)}
	}
	return nil
}

func amount(path string, body any, a *client.Answer) (float64, error) {
	if path == "client_ms" {
		return float64(a.Elapsed.Nanoseconds()) / 1e6, nil
	}
	v, _ := lookup(body, path)
	n, ok := v.(float64)
	if !ok || n < 0 {
		return 0, fmt.Errorf("%s is %v, want a number of at least 0", path, v)
	}
	return n, nil
}
