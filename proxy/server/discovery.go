package server

import (
	"encoding/json"

	"trtmc-ranking-proxy/ipc"
)

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	OwnedBy string `json:"owned_by"`
	Root    string `json:"root"` // the served model's own id, also for an alias
	// MaxModelLen is the token limit of a pair, absent if the Task does not count tokens.
	MaxModelLen uint32 `json:"max_model_len,omitempty"`
}

// models lists the served model under each of its names, in the form of OpenAI that NIM uses.
func (s *Server) models(x *exchange) error {
	task, err := s.identity()
	if err != nil {
		return err
	}
	var data []model
	for _, name := range append([]string{task.Model}, s.Config.ServedModelNames...) {
		data = append(data, model{ID: name, Object: "model", OwnedBy: "trtmc-ranking-proxy", Root: task.Model, MaxModelLen: task.MaxTokens})
	}
	return x.marshal(struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", data})
}

type modelInfo struct {
	ShortName string `json:"shortName"`
	ModelURL  string `json:"modelUrl"`
}

// metadata has the fields of NIM's that mean something here.
func (s *Server) metadata(x *exchange) error {
	task, err := s.identity()
	if err != nil {
		return err
	}
	return x.marshal(struct {
		Version   string      `json:"version"`
		ModelInfo []modelInfo `json:"modelInfo"`
	}{s.Version, []modelInfo{{ShortName: task.Model}}})
}

type servingTask struct {
	Server       string        `json:"server"`
	Task         string        `json:"task"`
	TaskVersion  string        `json:"task_version"`
	Model        string        `json:"model"`
	Revision     string        `json:"revision"`
	Family       string        `json:"family"`
	Backend      string        `json:"backend"`
	Precision    string        `json:"precision"`
	BundleDigest string        `json:"bundle_digest"`
	ScoreKind    ipc.ScoreKind `json:"score_kind"`
	MaxTokens    uint32        `json:"max_tokens"`
	MaxPassages  uint32        `json:"max_passages"`
	Pointwise    bool          `json:"pointwise"`
	Protocol     uint16        `json:"protocol"`
}

type servingLimits struct {
	MaxPassages      int     `json:"max_passages"`
	MaxBodyBytes     int     `json:"max_body_bytes"`
	MaxInFlight      int     `json:"max_in_flight"`
	RequestTimeoutMS float64 `json:"request_timeout_ms"`
}

type servingRoute struct {
	Path    string `json:"path"`
	Dialect string `json:"dialect"`
}

// servingInfo is TRTMC's page: who answers here, and within which limits.
func (s *Server) servingInfo(x *exchange) error {
	task, err := s.identity()
	if err != nil {
		return err
	}
	ready, _ := s.Ready()
	return x.marshal(struct {
		Operation string         `json:"operation"`
		Version   string         `json:"version"`
		Ready     bool           `json:"ready"`
		Task      servingTask    `json:"task"`
		Limits    servingLimits  `json:"limits"`
		Routes    []servingRoute `json:"routes"`
	}{
		Operation: "ranking", Version: s.Version, Ready: ready,
		Task: servingTask{
			Server: task.Server, Task: task.Task, TaskVersion: task.TaskVersion, Model: task.Model, Revision: task.Revision,
			Family: task.Family, Backend: task.Backend, Precision: task.Precision, BundleDigest: task.BundleDigest,
			ScoreKind: task.ScoreKind, MaxTokens: task.MaxTokens, MaxPassages: task.MaxPassages, Pointwise: task.Pointwise,
			Protocol: task.Protocol,
		},
		Limits: servingLimits{
			MaxPassages: s.ranker.MaxPassages(), MaxBodyBytes: s.Config.MaxBodyBytes, MaxInFlight: s.Config.MaxInFlight,
			RequestTimeoutMS: float64(s.Config.RequestTimeout.Microseconds()) / 1000,
		},
		Routes: s.rankingRoutes(),
	})
}

func (s *Server) rankingRoutes() []servingRoute {
	var routes []servingRoute
	for _, d := range s.Dialects {
		for _, path := range d.Paths() {
			routes = append(routes, servingRoute{Path: path, Dialect: d.Name()})
		}
	}
	return routes
}

// marshal answers with v; it is for the small pages only.
func (x *exchange) marshal(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.writeJSON(func(dst []byte) []byte { return append(dst, body...) })
	return nil
}
