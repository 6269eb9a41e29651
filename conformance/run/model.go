package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"trtmc-ranking-proxy/conformance/client"
)

// FindModel takes the first model that the server lists, unless one is given or the dialect has no place for it.
func (c *Config) FindModel(ctx context.Context) error {
	if c.Model != "" || c.Dialect.Name == "tei" {
		return nil
	}
	answer, err := c.Target.Do(ctx, &client.Call{Method: http.MethodGet, Path: "/v1/models"})
	if err != nil {
		return err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return fmt.Errorf("GET /v1/models: %w", err)
	}
	if len(list.Data) == 0 || list.Data[0].ID == "" {
		return errors.New("GET /v1/models lists no model")
	}
	c.Model = list.Data[0].ID
	return nil
}
