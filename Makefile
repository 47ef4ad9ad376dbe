# `make demo` and `make test` set everything up by themselves; the rest is for people who work on plymill.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := setup.py pyproject.toml $(shell find src/plymill -name '*.pyx' -o -name '*.pxd' -o -name '*.h')

.PHONY: build
build: $(VENV)/.built

$(VENV)/.deps: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group build
	touch $@

$(VENV)/.built: $(SOURCES) $(VENV)/.deps
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .[dev]
	touch $@
