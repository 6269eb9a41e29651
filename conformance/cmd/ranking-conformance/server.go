package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"trtmc-ranking-proxy/conformance"
	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/report"
	"trtmc-ranking-proxy/conformance/run"
	"trtmc-ranking-proxy/conformance/suite"
	"trtmc-ranking-proxy/conformance/wire"
)

func (o *options) testServer(ctx context.Context) (*report.Run, error) {
	themes, err := suite.Load(conformance.Cases(), wire.Names, run.Procedures())
	if err != nil {
		return nil, err
	}
	c, err := o.config(themes)
	if err != nil {
		return nil, err
	}
	if c.Server != nil {
		if err := c.Server.Start(ctx, c); err != nil {
			return nil, err
		}
	}
	if _, err := c.Target.Do(ctx, &client.Call{Method: http.MethodGet, Path: "/"}); err != nil {
		return nil, fmt.Errorf("%s does not answer at all: %w", o.url, err)
	}
	if err := c.FindModel(ctx); err != nil {
		return nil, fmt.Errorf("no --model given and none found: %w", err)
	}
	results := c.Run(ctx, themes)
	if c.Server != nil {
		err = c.Server.Stop()
	}
	return results, err
}

func (o *options) config(themes []suite.Theme) (*run.Config, error) {
	base, err := o.base()
	if err != nil {
		return nil, err
	}
	key, err := o.apiKey()
	if err != nil {
		return nil, err
	}
	known, err := o.known(caseNames(themes))
	if err != nil {
		return nil, err
	}
	c := &run.Config{
		Target: client.NewTarget(base, key, o.timeout), Dialect: o.dialectOf(), Model: o.model, Profile: suite.Profile(o.profile),
		Without: o.features(), Drift: o.drift, Known: known, Only: o.only, Done: progress,
	}
	if o.startCommand != "" {
		c.Server, err = run.NewServer(o.startCommand)
	}
	return c, err
}

func (o *options) dialectOf() *wire.Dialect {
	dialect := *wire.Dialects[o.dialect]
	if o.path != "" {
		dialect.Path = o.path
	}
	return &dialect
}

func caseNames(themes []suite.Theme) (names []string) {
	for _, theme := range themes {
		for _, c := range theme.Cases {
			names = append(names, c.Name)
		}
	}
	return names
}

func (o *options) known(cases []string) (map[string]bool, error) {
	if o.knownFailing == "" {
		return nil, nil
	}
	file, err := os.Open(o.knownFailing)
	if err != nil {
		return nil, fmt.Errorf("cannot read known failures: %w", err)
	}
	defer file.Close()
	return report.ReadKnown(file, cases)
}

func progress(line string) { fmt.Fprintln(os.Stderr, line) }
