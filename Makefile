# make run, make test, make check, make soak: each sets up what it needs first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CONFIG ?= configs/quickstart.yaml
# `lint-imports` and `mypy` follow the links in src/heldout.
CODE := gepa students reflectors splits experiments tests $(wildcard src/heldout/*.py)

.DEFAULT_GOAL := help
.PHONY: help setup run test check format lint types layers house soak picture pictures clean

help: ## What can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort

setup: $(STAMP) ## Create .venv and install the pinned dependencies

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: install python3 (3.11 or newer)"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python3 is older than 3.11: set PYTHON=python3.11 or newer"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "python3-venv is missing: install python3-venv"; exit 2; }
	@command -v git >/dev/null || { echo "git is missing: install git"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

run: $(STAMP) ## Run a campaign (CONFIG=configs/quickstart.yaml)
	$(BIN)/heldout run $(CONFIG)

test: $(STAMP) ## The test suite
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

format: $(STAMP) ## Rewrite the code in the one format
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

lint: $(STAMP) ## Format and lint, without changing anything
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)

types: $(STAMP) ## Strict types
	$(BIN)/mypy

layers: $(STAMP) ## The direction of dependencies
	$(BIN)/lint-imports

house: ## Count what keeps the code in order (AT=commit: beside another commit)
	$(PYTHON) -m tests.house $(if $(AT),--at $(AT))

check: lint types layers test ## Every check; what CI runs

soak: $(STAMP) ## The full counts behind the claims; resumable; writes docs/soak.md
	$(BIN)/python -m tests.soak

picture: $(STAMP) ## Draw docs/run.svg from a real run of the quickstart
	$(BIN)/python -m tests.pictures.terminal

pictures: $(STAMP) ## Take the reviewing pictures of a finished run (RUN=runs/…; needs chromium)
	$(BIN)/python -m tests.pictures.review $(RUN)

clean: ## Remove what the checks leave behind
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
