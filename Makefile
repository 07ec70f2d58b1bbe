# The targets. `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check format lint types imports lock perf clean test-minimal test-newest \
  test-install audit

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: .venv/core.stamp  ## two Audit-then-Score rounds on the shipped benchmark; no key, no network
	@rm -rf results/demo
	@$(BIN)/deepfact round run configs/demo.yaml --out results/demo

test: .venv/dev.stamp  ## all tests, warnings are errors; core/ and store/ must be covered completely
	$(BIN)/pytest -n auto --dist loadgroup --cov=deepfact.core --cov=deepfact.store \
	  --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100

check: lint types imports test  ## everything that must hold before a change lands

lint: .venv/dev.stamp
	$(BIN)/ruff check deepfact tests
	$(BIN)/ruff format --check deepfact tests

types: .venv/dev.stamp
	$(BIN)/mypy

imports: .venv/dev.stamp
	$(BIN)/lint-imports

format: .venv/dev.stamp  ## format the code and mend what can be mended
	$(BIN)/ruff check --fix deepfact tests
	$(BIN)/ruff format deepfact tests

perf: .venv/dev.stamp  ## measure speed, memory and survival; prints tables
	-$(BIN)/python tests/perf/local_verifier.py
	-$(BIN)/python tests/perf/table.py
	-$(BIN)/python tests/perf/engine.py
	-$(BIN)/python tests/perf/kills.py
	-$(BIN)/python tests/perf/store.py
	-$(BIN)/python tests/perf/telemetry.py
	-$(BIN)/python tests/perf/grouped.py
	-$(BIN)/python tests/perf/ray_executor.py
	-$(BIN)/python tests/perf/scaling_model.py --check

test-minimal:  ## the tests with the oldest dependencies that are allowed (needs uv)
	tests/supply/with_versions.sh lowest-direct

test-newest:  ## the tests with the newest dependencies there are (needs uv)
	tests/supply/with_versions.sh highest

test-install: .venv/dev.stamp  ## build the wheel and use it in a clean environment of each Python
	$(BIN)/python tests/supply/install_wheel.py

audit: .venv/dev.stamp  ## known vulnerabilities of what is locked (asks an advisory service), licences
	$(BIN)/python tests/supply/licences.py --check
	$(BIN)/python tests/supply/audit.py $(AUDIT)

lock:  ## resolve the lock files anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-annotate --no-header --quiet pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-annotate --no-header --quiet --all-extras pyproject.toml -o requirements-dev.lock

clean:  ## remove the environment, caches and uncommitted results
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .coverage* results/demo

.venv/made.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/core.stamp: requirements.lock pyproject.toml | .venv/made.stamp
	@echo "setting up (once, about half a minute)..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

.venv/dev.stamp: requirements-dev.lock tests/models/requirements.txt .venv/core.stamp
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r tests/models/requirements.txt
	@touch $@
