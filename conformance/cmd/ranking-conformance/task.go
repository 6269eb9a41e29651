package main

import (
	"context"

	"trtmc-ranking-proxy/conformance"
	"trtmc-ranking-proxy/conformance/report"
	"trtmc-ranking-proxy/conformance/taskcheck"
)

func (o *options) testTask(ctx context.Context) (*report.Run, error) {
	names, err := taskcheck.Names(conformance.Vectors())
	if err != nil {
		return nil, err
	}
	known, err := o.known(names)
	if err != nil {
		return nil, err
	}
	return taskcheck.Check(ctx, o.ipc, conformance.Vectors(), known, progress)
}
