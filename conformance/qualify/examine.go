package qualify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/aiperf"
	"trtmc-ranking-proxy/conformance/qualify/gate"
	"trtmc-ranking-proxy/conformance/qualify/identity"
	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/ipc"
)

// examine runs the steps that need no load, on one Task and proxy.
func (r *run) examine(ctx context.Context) error {
	return r.serve(ctx, "", func(s *stack.Stack) error {
		conn, err := dial(ctx, s)
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := r.identify(ctx, s, conn.Welcome()); err != nil {
			return err
		}
		if err := r.validate(ctx, conn); err != nil {
			return err
		}
		return r.compare(ctx, s.URL, conn)
	})
}

const identityStep = "identity"

// identify records what is served by what, and opens the state of this very combination.
func (r *run) identify(ctx context.Context, s *stack.Stack, w *ipc.Welcome) error {
	digest, files, err := identity.HashBundle(r.bundle(r.root))
	if err != nil {
		return err
	}
	i := &identity.Identity{
		Checkpoint: r.Entry.Checkpoint, Revision: r.Entry.Revision, Profile: r.Entry.Profile, Family: r.Entry.Family,
		Served: identity.NewServed(w), Files: files, Machine: identity.ThisMachine(ctx), Commands: r.commands(),
	}
	if i.Versions, err = r.versions(ctx, s); err != nil {
		return err
	}
	if i.Check, err = identity.Lines(ctx, stack.Root(), s.Config.TaskProgram, append([]string{"--check"}, r.taskArgs...)...); err != nil {
		return err
	}
	if i.ServingInfo, err = servingInfo(ctx, s.URL); err != nil {
		return err
	}
	i.Settings = r.settings()
	r.result.Identity, r.result.BundleDigest = i, w.BundleDigest
	r.say("  %s, revision %s, %s by %s, bundle %.19s...", w.Model, w.Revision, w.Precision, w.Backend, w.BundleDigest)
	return r.judgeIdentity(i, digest, s)
}

// judgeIdentity holds what is served against the inventory. A double is not what the inventory promises, which is the gap.
func (r *run) judgeIdentity(i *identity.Identity, digest string, s *stack.Stack) error {
	differences := i.Differences(r.Entry.Promised())
	unequal := 0
	if digest != i.Served.BundleDigest {
		unequal = 1
	}
	gates := []gate.Gate{gate.None(identityStep, "bundle digests that differ when computed anew", unequal)}
	if r.Double {
		r.gap("a double of the runtime was served, not the checkpoint: %s", strings.Join(differences, "; "))
	} else {
		gates = append(gates, gate.None(identityStep, "differences from the inventory", len(differences)))
	}
	if err := judge(gates, identityFindings(differences)); err != nil {
		return err
	}
	r.result.Gates = append(r.result.Gates, gates...)
	return r.openState(s)
}

func identityFindings(differences []string) []accounting.Finding {
	var findings []accounting.Finding
	for _, d := range differences {
		findings = append(findings, accounting.Finding{ID: identityStep, Problem: d})
	}
	return findings
}

// openState keeps steps for exactly this bundle, these programs, texts, criteria and loads.
func (r *run) openState(s *stack.Stack) (err error) {
	r.programPaths = []string{s.Config.TaskProgram, s.Config.ProxyProgram}
	if r.programs, err = r.hashPrograms(); err != nil {
		return err
	}
	r.state, err = openState(filepath.Join(r.Build, r.Entry.Name), r.Fresh, map[string]any{
		"served": r.result.Identity.Served, "programs": r.programs, "texts": r.result.Dataset.Digest, "reference": r.result.Reference,
		"criteria": r.result.Criteria, "settings": r.result.Identity.Settings,
	})
	if err == nil && r.state.resumed {
		r.say("  going on with what an interrupted run has found (--fresh starts clean)")
	}
	return err
}

func (r *run) hashPrograms() (programs []identity.File, err error) {
	for _, program := range r.programPaths {
		file, err := identity.HashFile(os.DirFS(filepath.Dir(program)), filepath.Base(program))
		if err != nil {
			return nil, err
		}
		programs = append(programs, file)
	}
	return programs, nil
}

func (r *run) versions(ctx context.Context, s *stack.Stack) (map[string][]string, error) {
	all := map[string][]string{"go": {runtime.Version()}, "source": {"not a git checkout"}}
	if lines, err := identity.Lines(ctx, stack.Root(), "git", "describe", "--always", "--dirty", "--abbrev=40"); err == nil {
		all["source"] = lines
	}
	for name, command := range map[string][]string{
		"ranking-proxy": {s.Config.ProxyProgram, "version"},
		"ranking-task":  {s.Config.TaskProgram, "--version"},
		"aiperf":        {r.AIPerf, "--version"},
		"python":        {filepath.Join(filepath.Dir(r.AIPerf), "python3"), "--version"},
	} {
		lines, err := identity.Lines(ctx, stack.Root(), command[0], command[1:]...)
		if err != nil {
			return nil, err
		}
		all[name] = lines
	}
	return all, nil
}

func (r *run) commands() []string {
	all := []string{
		"ranking-task --socket SOCKET " + shown(r.taskArgs),
		"ranking-proxy --listen ADDRESS --task-socket SOCKET --records FILE " + strings.Join(proxyArgs, " "),
	}
	for _, load := range r.closedLoads() {
		all = append(all, r.aiperfCommand(load))
	}
	return append(all, r.reproduce())
}

func (r *run) aiperfCommand(load aiperf.Load) string {
	program := aiperf.Program{Path: r.AIPerf, Tokenizer: "TOKENIZER"}
	return "aiperf " + strings.Join(program.Args(load, "http://ADDRESS", "MODEL", "INPUTS", "DIRECTORY"), " ")
}

func (r *run) settings() map[string]string {
	var plan []string
	for _, load := range r.closedLoads() {
		plan = append(plan, fmt.Sprintf("%d in flight: %d requests after %d of warm-up", load.Concurrency, load.Requests, load.Warmup))
	}
	return map[string]string{
		"mode": r.mode(), "task": shown(r.taskArgs), "proxy": strings.Join(proxyArgs, " "), "closed loops": strings.Join(plan, "; "),
		"constant rate": fmt.Sprintf("%v of the best closed loop's requests a second", rateShare), "GOMAXPROCS": fmt.Sprint(runtime.GOMAXPROCS(0)),
	}
}

func servingInfo(ctx context.Context, url string) (map[string]any, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/serving/info", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for /v1/serving/info: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for /v1/serving/info: %w", err)
	}
	defer response.Body.Close()
	info := map[string]any{}
	if err := json.NewDecoder(response.Body).Decode(&info); err != nil {
		return nil, fmt.Errorf("read /v1/serving/info: %w", err)
	}
	return info, nil
}
