package server

import (
	"trtmc-ranking-proxy/proxy/ranking"
)

// teiLabels are the labels of a model with a single class.
type teiLabels struct {
	ID2Label map[string]string `json:"id2label"`
	Label2ID map[string]int    `json:"label2id"`
}

type teiModelType struct {
	Reranker teiLabels `json:"reranker"`
}

// teiInfo is TEI's page about the model. What TEI says of its own batching and tokenization has no counterpart here and is left out.
func (s *Server) teiInfo(x *exchange) error {
	task, err := s.identity()
	if err != nil {
		return err
	}
	return x.marshal(struct {
		ModelID               string       `json:"model_id"`
		ModelSHA              string       `json:"model_sha,omitempty"`
		ModelDType            string       `json:"model_dtype"`
		ModelType             teiModelType `json:"model_type"`
		MaxConcurrentRequests int          `json:"max_concurrent_requests"`
		MaxInputLength        uint32       `json:"max_input_length,omitempty"`
		MaxClientBatchSize    int          `json:"max_client_batch_size"`
		AutoTruncate          bool         `json:"auto_truncate"`
		Version               string       `json:"version"`
	}{
		ModelID: task.Model, ModelSHA: task.Revision, ModelDType: task.Precision,
		ModelType:             teiModelType{teiLabels{map[string]string{"0": "LABEL_0"}, map[string]int{"LABEL_0": 0}}},
		MaxConcurrentRequests: s.Config.MaxInFlight, MaxInputLength: task.MaxTokens, MaxClientBatchSize: s.ranker.MaxPassages(),
		Version: s.Version,
	})
}

// teiHealth answers with an empty body while a ranking request would be answered.
func (s *Server) teiHealth(x *exchange) error {
	if ready, why := s.Ready(); !ready {
		return &ranking.Error{Kind: ranking.BackendUnavailable, Reason: "not_ready", Message: "Service is not ready.", Detail: why}
	}
	return nil
}
