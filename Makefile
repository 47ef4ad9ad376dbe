# `make demo` and `make test` set everything up by themselves; CONTRIBUTING.md tells of the rest.
#
# PYTHON names the Python to use, 3.11 or later; without it the first that fits is taken.

suitable = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$(call suitable,$$p) && echo $$p && exit; done; echo python3)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := setup.py pyproject.toml $(shell find src/plymill -name '*.pyx' -o -name '*.pxd' -o -name '*.h')
# Two processes: tests on Ray wait more than they compute.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadgroup
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

.PHONY: help demo test test-cluster lint check bench chaos wheel build clean

help:
	@echo 'make demo    build an opening book on local Ray, and check it against the published one'
	@echo 'make test    run all tests but those of make test-cluster'
	@echo 'make test-cluster  run the long ones: clusters of several nodes on this machine, further boards'
	@echo 'make lint    run the linters and the type checker'
	@echo 'make check   run the linters, the type checker and the fast tests'
	@echo 'make bench   run all benchmarks and print one table'
	@echo 'make chaos   twenty random faults in one run on several Ray nodes, and what each costs'
	@echo 'make wheel   build the source distribution and the wheel into dist/'
	@echo 'make build   set up $(VENV) and compile the extensions; all the others do it first'
	@echo 'make clean   remove what the build and the tests leave behind'
	@echo
	@echo 'PYTHON=python3.12 chooses the Python; now it is $(PYTHON).'

build: $(VENV)/.built

$(VENV)/.deps: pyproject.toml
	@test -x $(BIN)/python || $(call suitable,$(PYTHON)) || { \
		echo "plymill needs Python 3.11 or later, but '$(PYTHON)' is" \
			"$$($(PYTHON) --version 2>&1 || true); name another: make PYTHON=python3.12" >&2; \
		exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group build
	@touch $@

$(VENV)/.built: $(SOURCES) $(VENV)/.deps
	@echo 'Fetching libraries and compiling: some minutes the first time.'
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[dev]'
	@touch $@

# The published books are a package of their own; where it is missing, the demo does without.
demo: build
	@echo 'Building the book of the positions with 12 stones that follow 444444, on local Ray.'
	@reference=; $(BIN)/python -c 'import bitbully_databases' 2>/dev/null \
		&& reference='--against published:12ply-dist' \
		|| echo 'The published book is not installed: nothing to compare with.'; \
	$(BIN)/plymill book build --opening 444444 --store runs $$reference

test: build
	$(PYTEST) -m 'not cluster and not long'

# One after the other: each starts several Ray nodes with a job server on known ports.
test-cluster: build
	$(BIN)/python -m pytest -m 'cluster or long'

# cython-lint starts others by name.
lint: export PATH := $(CURDIR)/$(BIN):$(PATH)
lint: build
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/cython-lint src
	$(BIN)/lint-imports

check: lint
	$(PYTEST) -m 'not slow and not ray'

bench: build
	$(BIN)/python benchmarks/_run_all.py

# CHAOS holds options, such as CHAOS='--job grid --seed 7'. The fault kinds of disks and memory need root.
chaos: build
	$(BIN)/python -m chaos $(CHAOS)

wheel: build
	rm -rf dist
	$(BIN)/python -m build

clean:
	rm -rf build dist src/*.egg-info $(VENV)/.built .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache
	find src -name '*.so' -delete
	find src tests benchmarks chaos -name __pycache__ -type d -prune -exec rm -rf {} +
