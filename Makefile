# Needs only make and Python 3.11 or newer; everything else is installed into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --disable-pip-version-check -qq
WORKERS ?= 2
MINUTES ?= 10

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check fuzz format bench clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: $(VENV)/.core  ## from conversations to linked, searchable memory, in a new folder
	@$(BIN)/reme demo

test: $(VENV)/.dev  ## the tests, without the slow ones
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-slow: $(VENV)/.dev  ## the slow tests alone
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

check: $(VENV)/.dev  ## format, lint, types, floors, and what the repository promises of itself
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -m "not slow" tests/meta

fuzz: $(VENV)/.dev  ## look for notes that break the parser, for MINUTES=10; installs atheris (Linux, macOS)
	$(PIP) "atheris>=3.0"
	$(BIN)/python -m fuzz --minutes $(MINUTES)

format: $(VENV)/.dev  ## put every file into its one form
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

bench: $(VENV)/.dev  ## measure; tables on the screen, records in build/; see bench/
	mkdir -p build
	$(BIN)/python -m bench --json build/bench.json
	$(BIN)/python -m bench.live --json build/bench-live.json
	$(BIN)/python -m bench.vectors --json build/bench-vectors.json
	$(BIN)/python -m bench.serving --json build/bench-serving.json

clean:  ## remove everything that was installed or made
	rm -rf $(VENV) build dist reme-demo* .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ReMe needs Python 3.11 or newer: make PYTHON=/path/to/python3")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: requirements/core.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "installing ReMe into $(VENV) ..."
	@$(PIP) -r requirements/core.txt -r requirements/build.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt requirements/semantic.txt requirements/documents.txt $(VENV)/.core
	@echo "installing the development tools into $(VENV) ..."
	@$(PIP) -r requirements/dev.txt
	@touch $@
