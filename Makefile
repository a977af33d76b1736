# The two commands of the README: `make run` and `make test`. Both set up everything they need first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := src tests bench fuzz tools
QUICK := tests/unit tests/conformance tests/seeds tests/asking tests/ledger tests/test_public_api.py tests/test_architecture.py
WORKERS := $(shell expr $$(nproc 2> /dev/null || echo 2) + 1) # many tests wait for processes: one more than cores
PURE := src/accordance/errors/*,src/accordance/contracts/*,src/accordance/domain/*,src/accordance/rendering/*,src/accordance/gates/*

unexport PYTHONDONTWRITEBYTECODE # hundreds of tests start a process; none of them should compile everything again

.DEFAULT_GOAL := help
.PHONY: help setup ui ui-dev ui-check browser screenshots run test tests quick hostile api mutants check isolation conformance docs agents chaos fuzz bench bench-ui requirements clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## prepare .venv (quick when nothing changed)

$(VENV)/.ready: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is too old; Python 3.11 or newer is needed (make PYTHON=python3.11)"; exit 1; }
	@echo "setting up $(VENV) ..." # the pins are complete, so pip must not resolve: a newer release of an extra would stop it
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/dev.txt
	@ACCORDANCE_SKIP_UI=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . # make ui builds it
	@touch $@

ui: setup ## build the dashboard (instant when its sources have not changed); needs npm, or says what stands in for it
	@$(BIN)/python hatch_build.py

ui-dev: setup ## serve the dashboard's sources, reloaded as they change, beside `accordance serve`
	@cd ui && npm ci --ignore-scripts && npm run dev

ui-check: setup # build it, and check its types against the API
	@$(BIN)/python -m tools.api_types
	@$(BIN)/python hatch_build.py --check

screenshots: ui browser ## write every screen, light and dark, desktop and phone, to screenshots/
	$(BIN)/python -m tests.ui.screenshots

browser: # tests of the dashboard need chromium; root on a Debian system gets it, others are told
	@command -v chromium > /dev/null || test "$$(id -u)" != 0 || ! command -v apt-get > /dev/null || \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -q chromium > /dev/null 2>&1 || \
	  { apt-get update -q > /dev/null 2>&1 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q chromium > /dev/null 2>&1; } || true
	@command -v chromium > /dev/null || echo "chromium is not installed; tests of the dashboard are skipped"

run: setup isolation ui ## carry a plan out with good and bad agents: examples/quickstart
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/quickstart/run.sh
	@echo
	@echo "To see it in the browser:  $(BIN)/accordance serve --open --home .quickstart"
	@echo "To paste these commands, type this first:  . $(CURDIR)/$(BIN)/activate"

test: setup isolation browser ui-check ## every check and every test
	@$(MAKE) --no-print-directory -j 2 check tests

tests: setup # beside the checks, which use one core; without what tells a make inside a test that it is inside this one
	@$(BIN)/coverage erase
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(BIN)/pytest -n $(WORKERS) --dist loadgroup --cov --cov-report= tests
	@$(BIN)/coverage report --include='$(PURE)' --fail-under=100
	@$(BIN)/coverage report --fail-under=95 --format=total | sed 's/^/whole package covered: /;s/$$/ %/'

quick: setup ## the tests for daily work, in a few minutes: the core and the ledger on SQLite
	$(BIN)/pytest -n auto --dist loadgroup -q -m "not large" -k "not postgresql" $(QUICK)

hostile: setup isolation ## agents that cheat and their honest twins: how many verdicts were false
	$(BIN)/pytest -n auto --dist loadgroup -q tests/hostile

api: setup ## requests that nobody expects, against every route of the server; EXAMPLES=200 for each
	API_EXAMPLES=$(or $(EXAMPLES),200) $(BIN)/pytest -q -n 2 tests/server/test_whole_api.py

mutants: setup ## break the code on purpose, see which changes no test notices; MODULES="domain gates judging" COUNT=200
	$(BIN)/python -m tools.mutants $(MODULES) --count $(or $(COUNT),200) --seed $(or $(SEED),1)

isolation: # tests run agents' code: with bubblewrap it is kept apart best; root on a Debian system gets it, others are told
	@command -v bwrap > /dev/null || test "$$(id -u)" != 0 || ! command -v apt-get > /dev/null || \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -q bubblewrap > /dev/null 2>&1 || \
	  { apt-get update -q > /dev/null 2>&1 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q bubblewrap > /dev/null 2>&1; } || true
	@command -v bwrap > /dev/null || echo "bubblewrap is not installed; what needs it says so"

check: setup ## format, lint, types, layers
	$(BIN)/ruff format --check --quiet $(SOURCES)
	$(BIN)/ruff check --quiet $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache > /dev/null || { $(BIN)/lint-imports --no-cache; exit 1; }

conformance: setup ## the vectors alone; VECTORS=DIR runs those of another folder
	$(BIN)/pytest -q tests/conformance $(if $(VECTORS),--vectors "$(VECTORS)")

docs: setup ## write the generated pages
	$(BIN)/python -m tools.make_docs

agents: setup .agents/.ready ## install codex, opencode and Claude Code (about 850 MB) and run their tests
	$(BIN)/pytest -q tests/executors/agents

.agents/.ready:
	@command -v npm > /dev/null || { echo "make: npm is not installed; it brings the agents"; exit 1; }
	npm install --prefix .agents --no-audit --no-fund --no-package-lock @openai/codex opencode-ai @anthropic-ai/claude-code
	@touch $@

chaos: setup ## workers killed, frozen, cut off, out of disk, the database failing over; FAULTS=500
	FAULTS=$(or $(FAULTS),500) $(BIN)/python -m tests.chaos

fuzz: setup $(VENV)-fuzz/.ready ## atheris on the readers, then bad calls of every command; SECONDS=60 for each
	$(VENV)-fuzz/bin/python fuzz/fuzz_readers.py -max_total_time=$(or $(SECONDS),60) fuzz/corpus fuzz/corpus/seeds
	$(BIN)/python -m tests.hostile.calls --seconds $(or $(SECONDS),60)

$(VENV)-fuzz/.ready: requirements/fuzz.txt pyproject.toml
	@test -x $(VENV)-fuzz/bin/python || $(PYTHON) -m venv $(VENV)-fuzz
	@$(VENV)-fuzz/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/fuzz.txt
	@$(VENV)-fuzz/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@mkdir -p fuzz/corpus/seeds
	@touch $@

bench: $(VENV)-bench/.ready ## accordance beside its peers, in one run
	$(VENV)-bench/bin/python bench/contracts.py
	$(VENV)-bench/bin/python bench/startup.py
	$(VENV)-bench/bin/python bench/progress.py
	$(VENV)-bench/bin/python bench/plans.py
	$(VENV)-bench/bin/python bench/gateway.py
	$(VENV)-bench/bin/python bench/research.py
	$(VENV)-bench/bin/python bench/engine.py
	$(VENV)-bench/bin/python bench/server.py

bench-ui: ui browser ## the dashboard with 10,000 tasks: frames, heap, first paint
	$(BIN)/python -m bench.ui

$(VENV)-bench/.ready: requirements/bench.txt pyproject.toml
	@test -x $(VENV)-bench/bin/python || $(PYTHON) -m venv $(VENV)-bench
	@$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/bench.txt
	@$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

requirements: setup ## pin the newest releases, with hashes
	@for name in dev fuzz bench; do \
	  echo "compiling requirements/$$name.txt"; \
	  extras="--extra runtime --extra attest"; \
	  if [ $$name = dev ]; then extras="$$extras --extra llm --extra mcp --extra a2a --extra s3 --extra server --extra otel"; fi; \
	  if [ $$name = bench ]; then extras="$$extras --extra server"; fi; \
	  $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	    pyproject.toml $$extras --group build --group $$name -o requirements/$$name.txt || exit 1; \
	done
	@echo "compiling requirements/ui.txt" # node, for building the image
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --group ui -o requirements/ui.txt
	@echo "compiling requirements/image.txt" # what the container image holds: everything, no tools
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  pyproject.toml --extra all --group build -o requirements/image.txt

clean: ## remove what make made
	rm -rf .mutants ui/node_modules src/accordance/server/bundle screenshots $(VENV) $(VENV)-fuzz $(VENV)-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .import_linter_cache .agents .quickstart
