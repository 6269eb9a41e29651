# make help lists the targets. build/ and .deps/ hold everything that is made or fetched; `make clean` removes build/.
comma := ,
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export PATH := $(CURDIR)/.deps/go/bin:$(PATH)
export CGO_ENABLED ?= 1
JOBS ?= $(shell nproc)
MODEL_DIR ?= native/models/minilm-l6-rerank
LISTEN ?= 127.0.0.1:8000
SOCKET ?= $(CURDIR)/build/run/task.sock
COMMIT := $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
GO_LDFLAGS := -s -w -X main.commit=$(COMMIT)
CMAKE_FLAGS := -G Ninja -DOpenVINO_DIR=$(CURDIR)/.deps/openvino/openvino/cmake -Dtokenizer_target=$(CURDIR)/build/cargo
TASK := build/native/ranking-task
HAS_GTEST := $(if $(wildcard /usr/include/gtest/gtest.h),ON,OFF)
PROXY := build/bin/ranking-proxy

.PHONY: help
help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

# $(call native_build,folder,flags,targets): configure and build one form of the Task.
define native_build
	@mkdir -p build
	@cmake -S native -B build/$(1) $(CMAKE_FLAGS) $(2) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
	@cmake --build build/$(1) -j $(JOBS) --target $(3) | sed '/no work to do/d'
endef

# --- build and run -------------------------------------------------------------------------------

.PHONY: setup
setup: ## install what the build lacks (packages, Go, Rust, OpenVINO)
	@native/setup.sh build

.PHONY: native
native: setup
	$(call native_build,native,-DCMAKE_BUILD_TYPE=Release -DRANKING_TESTS=$(HAS_GTEST),ranking-task)

.PHONY: go
go: setup
	@mkdir -p build/bin
	@go build -trimpath -ldflags '$(GO_LDFLAGS)' -o build/bin/ ./proxy/cmd/... ./conformance/cmd/... ./bench/cmd/...

.PHONY: build
build: native go ## build every program into build/native and build/bin

.PHONY: run
run: native go ## start the Task with the default model and the proxy, in the foreground
	@mkdir -p build && install -d -m 700 build/run # whoever enters it reaches the socket, whatever the umask
	@$(PROXY) --listen $(LISTEN) --task-socket $(SOCKET) --supervise -- \
	  $(TASK) --task openvino --model $(MODEL_DIR) --socket $(SOCKET)

# --- tests: fast ones first; `make test` is what CI runs ------------------------------------------

.PHONY: test
test: setup-test lint test-go test-native test-e2e test-conformance test-qualify test-soak test-fuzz audit test-clients-short test-dist test-compose ## everything CI runs

.PHONY: setup-test
setup-test:
	@native/setup.sh test

.PHONY: test-go
test-go: ## Go unit, vector, property and fuzz-seed tests, with the race detector
	go test -race -timeout 10m ./...
	go test -run Alloc ./ipc ./proxy/server # counted without the race detector, which makes pools forget

.PHONY: test-native
test-native: test-rust test-asan test-tsan test-valgrind ## tests of the tokenizer library; C++ tests under ASan+UBSan, TSan and valgrind

.PHONY: test-rust
test-rust:
	@cd native/tokenizer && cargo test --quiet --locked --target-dir ../../build/rust

# A model file that cannot be read makes OpenVINO load and drop its other readers, one of which leaks 8 bytes at start.
# TBB opens libraries with RTLD_DEEPBIND, which sanitizers refuse, unless it is told of them.
LEAKS_ELSEWHERE := ModelDirectory.RefusalsNameTheFile

.PHONY: test-asan
test-asan:
	$(call native_build,native-address,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DRANKING_SANITIZE=address$(comma)undefined,all)
	TBB_ENABLE_SANITIZERS=1 ctest --test-dir build/native-address --output-on-failure --no-tests=error -j $(JOBS) -E $(LEAKS_ELSEWHERE)
	TBB_ENABLE_SANITIZERS=1 ASAN_OPTIONS=detect_leaks=0 ctest --test-dir build/native-address --output-on-failure --no-tests=error -R $(LEAKS_ELSEWHERE)

# OpenVINO's own threads would drown in reports: its tests stay out, the scheduler's run with a fake engine.
.PHONY: test-tsan
test-tsan:
	$(call native_build,native-thread,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DRANKING_SANITIZE=thread,core_tests scheduling_tests)
	ctest --test-dir build/native-thread --output-on-failure --no-tests=error -j $(JOBS) -E NOT_BUILT

.PHONY: test-valgrind
test-valgrind:
	$(call native_build,native,-DCMAKE_BUILD_TYPE=Release -DRANKING_TESTS=ON,trtmc-tests)
	ctest --test-dir build/native --output-on-failure --no-tests=error -R valgrind

CHECK_OURS := conformance/check-ours.sh build/bin
DOUBLE := --task trtmc --runtime-root $(CURDIR)/build/native/tests/trtmc_double/runtime --bundle $(CURDIR)/build/minilm-l6-rerank.bundle \
  --trtmc-model minilm-l6-rerank --tokenizer $(abspath $(MODEL_DIR))/tokenizer.json --tokenizer-max-tokens 512

# What does not speak of the built-in model runs a second time on the double of TRTMC's ABI.
.PHONY: test-e2e
test-e2e: go trtmc-double ## the real binaries and the real model over a real socket, then the TRTMC double
	go test -race -count=1 -timeout 20m -tags e2e ./conformance/e2e/... ./native/models
	@build/native/tests/trtmc_double/make-bundle build/minilm-l6-rerank.bundle
	RANKING_TASK_ARGS="$(DOUBLE)" go test -race -count=1 -timeout 10m -tags e2e \
	  -run 'HTTPScores|Company|TooLong|EveryFormat|EveryRequest' ./conformance/e2e

.PHONY: test-conformance
test-conformance: go trtmc-double ## the conformance suite before each Task and a Task of another hand; the inventory's evidence
	@conformance/examples/word-overlap/check.sh build/bin/ranking-conformance
	@$(CHECK_OURS) "--without relevance" "nim tei cohere jina" $(TASK) --task null
	@$(CHECK_OURS) "" "nim" $(TASK) --task openvino --model $(MODEL_DIR)
	@build/native/tests/trtmc_double/make-bundle build/minilm-l6-rerank.bundle
	@$(CHECK_OURS) "--without relevance" "nim" $(TASK) $(DOUBLE)
	@build/bin/ranking-inventory

.PHONY: test-soak
test-soak: native go ## the soak in two minutes, on the null Task
	@build/bin/ranking-soak --duration 2m --quiet

.PHONY: test-fuzz
test-fuzz: ## every fuzzer for a minute
	@conformance/fuzz.sh 60s

# --- long runs -------------------------------------------------------------------------------------

SOAK_FLAGS ?=
FUZZTIME ?= 10m

.PHONY: soak
soak: native go ## 30 minutes of traffic under random faults on the default model, every score checked (SOAK_FLAGS)
	@build/bin/ranking-soak --model $(MODEL_DIR) --json build/soak.json $(SOAK_FLAGS)

.PHONY: fuzz
fuzz: setup-test ## every fuzzer for FUZZTIME, ten minutes each unless told
	@conformance/fuzz.sh $(FUZZTIME)

.PHONY: audit
audit: setup ## pins and hashes of dependencies, and known vulnerabilities where the databases can be reached
	@deploy/audit.sh

# --- benchmarks: see bench/README.md ---------------------------------------------------------------

CHECKPOINT ?= ../shared/model/minilm-l6-rerank
BENCH_FLAGS ?=

# The f32 form of the default model and the TRTMC double join where they can be made.
.PHONY: bench-forms
bench-forms: native go
	@native/setup.sh bench
	$(call native_build,native,-DCMAKE_BUILD_TYPE=Release -DRANKING_TESTS=ON,trtmc_double make-bundle ranking-engine-bench ranking-int8-peak)
	@mkdir -p build/bench build/models
	@build/native/tests/trtmc_double/make-bundle build/bench/double.bundle
	@if [ -d $(CHECKPOINT) ] && [ ! -f build/models/minilm-l6-rerank-f32/model.bin ]; then \
	  .deps/python/bin/python3 native/models/tools/bert_f32.py $(CHECKPOINT) build/models/minilm-l6-rerank-f32; fi

.PHONY: bench
bench: bench-forms ## our stack alone: tables, stage budget, hop beside nginx, growth (15 minutes; BENCH_FLAGS)
	@build/bin/ranking-bench stack $(BENCH_FLAGS)

.PHONY: bench-peers
bench-peers: bench-forms ## the same work on other rerankers, in turns with ours (an hour, and 12 GB of packages)
	@bench/peers/setup.sh $(CHECKPOINT) build/bench
	@build/bin/ranking-bench peers $(BENCH_FLAGS)

# --- qualification: see conformance/qualify/README.md ----------------------------------------------

MODEL ?= minilm-l6-rerank
QUALIFY_FLAGS ?=

# A TRTMC entry without a bundle is served by the double, which qualifies nothing.
.PHONY: qualify
qualify: native go $(if $(BUNDLE)$(filter minilm-%,$(MODEL)),,trtmc-double) ## evidence for an inventory entry: MODEL=, for TRTMC RUNTIME_ROOT= BUNDLE= (30 minutes)
	@conformance/qualify/aiperf/setup.sh build/qualify/aiperf-venv
	@build/bin/ranking-qualify --entry $(MODEL) $(if $(BUNDLE),--runtime-root $(RUNTIME_ROOT) --bundle $(BUNDLE)) $(QUALIFY_FLAGS)

.PHONY: trtmc-double
trtmc-double: setup-test native
	$(call native_build,native,-DCMAKE_BUILD_TYPE=Release -DRANKING_TESTS=ON,trtmc_double make-bundle)

.PHONY: test-qualify
test-qualify: ## a short qualification with the published AIPerf, and the evidence behind every status
	@$(MAKE) qualify QUALIFY_FLAGS="--short --fresh"
	@build/bin/ranking-inventory

.PHONY: test-clients
test-clients: native go ## the ranking clients that people use, in environments of their own (installed the first time)
	go test -count=1 -timeout 60m -tags clients ./conformance/clients

.PHONY: test-clients-short
test-clients-short: native go ## the three most used of them
	go test -count=1 -timeout 30m -tags clients -run 'TestClients/(langchain-nvidia|litellm|cohere)$$|TestChecksNotice' ./conformance/clients

# --- deployment: see deploy/README.md -------------------------------------------------------------

.PHONY: dist
dist: native go ## a tarball and a Debian package of all that runs, in build/dist
	@deploy/dist/build.sh build/dist

.PHONY: test-dist
test-dist: native go ## packing twice gives the same bytes, and what is packed works
	@deploy/dist/test.sh

.PHONY: test-compose
test-compose: ## docker-compose.yml in a real engine; skipped without one
	@deploy/compose/test.sh

.PHONY: test-chart
test-chart: ## the Helm chart against the schemas of Kubernetes (builds helm the first time)
	@deploy/helm/test.sh

# --- looking after the code -----------------------------------------------------------------------

.PHONY: lint
lint: ## formatting and static checks of Go, C++, Rust and shell
	@test -z "$$(gofmt -l ipc proxy conformance bench deploy | tee /dev/stderr)"
	@go vet ./... && go vet -tags e2e,clients ./conformance/... ./native/...
	@clang-format --dry-run -Werror $$(git ls-files 'native/*.h' 'native/*.cpp')
	@cd native/tokenizer && cargo fmt --check && cargo clippy --quiet --locked --all-targets --target-dir ../../build/rust -- -D warnings

.PHONY: tidy
tidy: setup-test ## clang-tidy over the Task (5 minutes)
	@command -v run-clang-tidy >/dev/null || { echo 'tidy needs the package clang-tidy' >&2; exit 1; }
	@cmake -S native -B build/native-tidy $(CMAKE_FLAGS) -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
	@run-clang-tidy -p build/native-tidy -quiet -j $(JOBS) '$(CURDIR)/native/src/(?!openvino/cpu).*\.cpp' # whose names of features clang 14 lacks

.PHONY: format
format: ## rewrite Go, C++ and Rust files in the project's format
	@gofmt -w ipc proxy conformance bench deploy
	@clang-format -i $$(git ls-files 'native/*.h' 'native/*.cpp')
	@cd native/tokenizer && cargo fmt

.PHONY: clean
clean: ## remove build/ (what was fetched stays in .deps/)
	@rm -rf build
