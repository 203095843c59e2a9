# make demo, make test: both set up everything they need (make and a Python 3.12+).
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PARALLEL := -n 2 --dist worksteal -q
ALONE := -p no:xdist -q
# Whole lines, progress with the name of its part: two parts print at once.
NAMED = while IFS= read -r line; do \
	case "$$line" in *%]) line="$@ $$line";; esac; printf '%s\n' "$$line"; done

# The tests start many processes, and each would compile every file anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test plain-tests compiled-tests test-all lint types tests nightly wheels lowest newest faults mutations arena bench reference reproduce validate docs metadata dist release installs clean help

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMP): pyproject.toml constraints.txt .ci/find-python
	@python=$$(bash .ci/find-python) || exit 1; \
	if ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then \
	  echo "making $(VENV) with $$python"; rm -rf $(VENV); "$$python" -m venv $(VENV); \
	fi
	@echo "installing pinned packages (about a minute the first time)"
	@# byte code is made of what is imported, not of all that is installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  -c constraints.txt -e '.[test]'
	@touch $@

demo: $(STAMP)  ## the main job on a shipped log: leaves report.html
	$(BIN)/bayesduel report springall -o report.html

# Together: where one waits, for a server or for a process that it killed, the others go on.
test: $(STAMP)  ## ruff, mypy and the fast test suite
	@$(MAKE) --no-print-directory --keep-going -j 3 lint plain-tests compiled-tests

# As many processes as cores: threads of BLAS would only wait for one another.
plain-tests compiled-tests test-all nightly arena: export OMP_NUM_THREADS := 1

# Graphs of the fast tests run a few times: PyTensor would compile their constants in C++.
plain-tests compiled-tests: export PYTENSOR_FLAGS := cxx=

# Compiling takes most of the time on a fresh machine: tests of the rules of policies run their
# kernels as plain Python. make test-all compiles them.
plain-tests: $(STAMP)
	@set -o pipefail; $(BIN)/python -m pytest $(ALONE) -p benchmarks.mutations.plain_functions \
	  -p benchmarks.mutations.plain_processes -m "plain and not slow" | $(NAMED)

compiled-tests: $(STAMP)
	@set -o pipefail; $(BIN)/python -m pytest $(PARALLEL) -m "not plain and not slow" | $(NAMED)

test-all: lint  ## all tests, with everything compiled
	$(BIN)/python -m pytest $(PARALLEL) -m "slow or not slow"

lint: $(STAMP)  ## ruff, and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

types: $(STAMP)  ## mypy alone
	$(BIN)/mypy

tests: plain-tests compiled-tests  ## the fast tests alone

nightly: $(STAMP)  ## all tests, those by chance with a fresh seed (it is printed)
	$(BIN)/python -m pytest -n 2 -q -m "slow or not slow" --hypothesis-seed=random

wheels: $(STAMP)  ## build the wheel and the sdist, and check what is in them
	$(BIN)/python -m pytest -p no:xdist -q -m "slow or not slow" tests/test_distributions.py

lowest:  ## the quick tests with the lowest versions that pyproject.toml allows
	@bash .ci/test-versions lowest

newest:  ## the quick tests with the newest versions there are
	@bash .ci/test-versions newest

faults: $(STAMP)  ## docs/validation/faults.md: bad inputs, and kills at random moments (goes on after a stop)
	$(BIN)/python -m benchmarks.faults $(if $(FULL),--full)

mutations: $(STAMP)  ## docs/validation/mutations.md: 300 small faults in the package (goes on after a stop)
	$(BIN)/python -m benchmarks.mutations

arena: $(STAMP)  ## docs/validation/arena.md: policies ranked (half an hour; goes on after a stop); QUICK=1 prints a table
	$(BIN)/python -m benchmarks.arena $(if $(QUICK),--quick)

bench: $(STAMP)  ## the benchmarks, as ratios in one run (20 minutes)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.run

reference: $(STAMP)  ## our regrets beside reference figures (an hour; goes on after a stop)
	$(BIN)/python -m benchmarks.reference

reproduce: $(STAMP)  ## the papers' claims, run again: docs/validation/papers.md; QUICK=1 prints them in 15 minutes
	$(BIN)/python examples/reproduce $(if $(QUICK),--quick)

validate: $(STAMP)  ## docs/validation/validation.md, measured (goes on after a stop; FULL=1: hours)
	$(BIN)/python -m benchmarks.validation $(if $(FULL),--full)

docs: $(STAMP)  ## the site: build/site/index.html; a warning, a broken link or a fault of a docstring fails
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@rm -rf docs/reference/generated
	$(BIN)/python -m sphinx -W --keep-going -E -q -b html -d build/doctrees docs build/site
	$(BIN)/python docs/check_links.py build/site
	$(BIN)/python -m pytest -p no:xdist -q tests/test_docstrings.py -k numpydoc

metadata: $(STAMP)  ## the version and the requirements, written where they are repeated
	$(BIN)/python .ci/release.py write

dist: $(STAMP)  ## the wheel and the sdist in dist/, checked
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build twine
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*

release: $(STAMP)  ## dist, and a tag where all agree and the tree is clean; it pushes nothing
	@$(BIN)/python .ci/release.py ready
	@$(MAKE) --no-print-directory dist
	@$(BIN)/python .ci/release.py tag

installs: $(STAMP)  ## docs/validation/installs.md, measured; PYTHONS="python3.12 python3.13" of these
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build
	$(BIN)/python -m benchmarks.installs $(if $(PYTHONS),--python $(PYTHONS))

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
