// Package suite is the data form of a conformance case and its strict loader: a case is YAML, one file a theme, and everything that
// it says is checked before anything is sent. conformance/README.md is the reference of the format.
package suite

// Profile says how much a server promises; each profile contains the ones before it.
type Profile string

const (
	ProfileAny    Profile = "any"        // any reranking server that speaks the dialect
	ProfileStrict Profile = "strict-nim" // the documented behaviour of NIM, or of the dialect's own server
	ProfileOurs   Profile = "ours"       // the extensions of this project, such as trtmc_timing
)

var profileOrder = map[Profile]int{ProfileAny: 0, ProfileStrict: 1, ProfileOurs: 2}

// Covers tells whether a server of profile p promises what a case of profile other checks.
func (p Profile) Covers(other Profile) bool { return profileOrder[p] >= profileOrder[other] }

// Features that a server may be without by its nature; a case names those it needs.
var Features = map[string]string{
	"token-limit": "the server counts tokens and limits them",
	"usage":       "the answer carries token usage",
	"relevance":   "the scores come from a trained model",
	"api-key":     "the server demands an API key (set by --api-key)",
	"open":        "the server demands no API key (set by the absence of --api-key)",
	"start":       "the suite starts and stops the server (set by --start-command)",
}

// Theme is one file of cases.
type Theme struct {
	Name  string `yaml:"theme"`
	Cases []Case `yaml:"cases"`
}

// Case is one behaviour, shown by one or more steps in order.
type Case struct {
	Name      string   `yaml:"name"`
	Theme     string   `yaml:"-"`
	Why       string   `yaml:"why"`
	Report    string   `yaml:"report"`    // the public report it comes from, as owner/repo#number or a short name
	Dialects  []string `yaml:"dialect"`   // empty: every dialect
	Applies   Profile  `yaml:"applies"`   // empty: any
	Needs     []string `yaml:"needs"`     // keys of Features
	Steps     []Step   `yaml:"steps"`     // either steps
	Procedure string   `yaml:"procedure"` // or a procedure of package run, for what needs a search or a signal
}

// Step sends one request, or the same one several times, and checks every answer. Exactly one of Rank, Request and Raw says what is sent.
type Step struct {
	Name       string            `yaml:"name"`       // for same_as
	Rank       *Rank             `yaml:"rank"`       // a ranking in the dialect under test
	Request    *Request          `yaml:"request"`    // a literal HTTP request
	Raw        *Raw              `yaml:"raw"`        // bytes on a socket
	Headers    map[string]string `yaml:"headers"`    // added to rank and request
	Repeat     int               `yaml:"repeat"`     // number of calls; 0 is 1
	Concurrent int               `yaml:"concurrent"` // calls in flight; 0 is 1
	Crowd      int               `yaml:"crowd"`      // other rankings of mixed size kept in flight meanwhile
	Expect     Expect            `yaml:"expect"`
	Ours       *Expect           `yaml:"ours"` // checked as well under the profile ours
}

// Calls is the number of times that the step is sent.
func (s *Step) Calls() int {
	if s.Repeat > 0 {
		return s.Repeat
	}
	return 1
}

// Rank is a ranking in terms that every dialect has.
type Rank struct {
	Query    Text            `yaml:"query"`
	Passages []Text          `yaml:"passages"`
	Truncate string          `yaml:"truncate"` // NONE or END; left out where the dialect has no word for it
	TopN     int             `yaml:"top_n"`
	Rotate   bool            `yaml:"rotate"`  // call k sends the passages rotated by k
	Set      map[string]any  `yaml:"set"`     // top-level fields of the body to add or change
	Unset    []string        `yaml:"unset"`   // top-level fields of the body to remove
	Replace  map[string]Text `yaml:"replace"` // marks in the encoded body and what stands there instead
}

// Request is a literal HTTP request. Strings may hold {model}, {path} (the dialect's ranking path) and {host}.
type Request struct {
	Method  string          `yaml:"method"`  // empty: POST
	Path    string          `yaml:"path"`    // empty: the dialect's ranking path
	JSON    any             `yaml:"json"`    // either a body as YAML
	Text    string          `yaml:"text"`    // or as text
	Replace map[string]Text `yaml:"replace"` // marks in the body
}

// Raw is bytes written to a fresh connection, chunk by chunk. Chunks may hold the placeholders of Request, {auth} (the header line of the
// API key, if any), {body} (a ranking), {length} and {hex_length} (its byte count).
type Raw struct {
	Send       []string        `yaml:"send"`
	Rank       *Rank           `yaml:"rank"` // what {body} is; default: a small valid ranking
	Replace    map[string]Text `yaml:"replace"`
	CloseWrite bool            `yaml:"close_write"` // shut down the sending side after the last chunk
	Abandon    bool            `yaml:"abandon"`     // close the connection after the last chunk and read nothing
}

// Expect is what must hold for every answer of a step. What is left out is not checked.
type Expect struct {
	Status  *Status            `yaml:"status"`
	Headers map[string]Matcher `yaml:"headers"`
	JSON    map[string]Matcher `yaml:"json"` // dotted path, array indices as numbers
	Text    *Matcher           `yaml:"text"` // the whole body
	NoNulls bool               `yaml:"no_nulls"`
	Error   bool               `yaml:"error"`   // the body has the dialect's error form
	EchoID  bool               `yaml:"echo_id"` // a unique X-Request-ID is sent with each call and must come back
	Ranking *Ranking           `yaml:"ranking"`
	SameAs  *SameAs            `yaml:"same_as"`
	AtMost  []Sum              `yaml:"at_most"`
	Metrics bool               `yaml:"metrics"` // Prometheus text, with HELP and TYPE for every sample
	// Of raw steps:
	Answers     *int  `yaml:"answers"`       // number of final answers on the connection
	Closed      *bool `yaml:"closed"`        // whether the server closes the connection afterwards
	NotInvited  bool  `yaml:"not_invited"`   // no 100 Continue was sent
	MayBeSilent bool  `yaml:"may_be_silent"` // closing without an answer is as good as the status asked for
}

// Ranking is what must hold for the entries of an answer.
type Ranking struct {
	Count       *int  `yaml:"count"`       // entries; default: as many as passages
	Permutation bool  `yaml:"permutation"` // every passage exactly once, indices in range
	Sorted      bool  `yaml:"sorted"`      // by score, descending
	Finite      bool  `yaml:"finite"`
	TiesInOrder bool  `yaml:"ties_in_order"` // equal scores stand in passage order
	First       *int  `yaml:"first"`         // index of the first entry
	Order       []int `yaml:"order"`         // indices of the first entries
	WithinUnit  bool  `yaml:"within_unit"`   // every score in 0..1
	BeyondUnit  bool  `yaml:"beyond_unit"`   // some score outside 0..1
	Distinct    int   `yaml:"distinct"`      // at least so many different scores
	Digits      int   `yaml:"digits"`        // some score is written with at least so many significant digits
	EqualTexts  bool  `yaml:"equal_texts"`   // equal passages have bit-equal scores
}

// SameAs compares scores with those of an earlier step, passage by passage. Call k is compared with call k, or with the only one.
type SameAs struct {
	Step      string  `yaml:"step"`
	Bits      bool    `yaml:"bits"`      // as float32 bits
	Drift     bool    `yaml:"drift"`     // within --drift (a quarter of it on a 0..1 scale), and the largest difference is reported
	Tolerance float64 `yaml:"tolerance"` // or within this
	Order     bool    `yaml:"order"`     // and the passages come in the same order
	PerIndex  bool    `yaml:"per_index"` // compare by index instead of by passage text
}

// Sum demands that parts add up to no more than whole: dotted paths of numbers in the body; client_ms is the time the suite measured.
type Sum struct {
	Parts []string `yaml:"parts"`
	Whole string   `yaml:"whole"`
}
