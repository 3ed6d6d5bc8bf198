# Every target sets up what it needs: `make up` on a fresh checkout simply works.
#
#   PYTHON   the Python to build the environment with (3.11 or newer)
#   ARGS     passed on, e.g. make up ARGS="--port 8080", make test ARGS="-k inbox"

PYTHON ?= python3
ARGS   ?=
UV     := $(shell command -v uv 2>/dev/null)

# An environment holds absolute paths, so its stamps carry a mark of the directory it was made in:
# in a moved or copied checkout they do not match, and the environment is made afresh.
HERE      := $(shell pwd | cksum | cut -d ' ' -f 1)
LOCKED    := .venv/.locked-$(HERE)
INSTALLED := .venv/.installed-$(HERE)
RUN       := .venv/bin/python -m

.DEFAULT_GOAL := help
.PHONY: help up test check format bench lock clean

define require_python
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "rookery needs Python 3.11 or newer, and '$(PYTHON)' is not that. Name one: make PYTHON=python3.12 ..." >&2; \
	exit 1; }
endef

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

up: $(INSTALLED) ## start rookery
	@trap : INT; .venv/bin/rook up $(ARGS) || test $$? -eq 130

test: $(INSTALLED) ## run the tests
	@$(RUN) pytest -n logical --dist worksteal $(ARGS)

check: $(INSTALLED) ## check format, lint, types and architecture
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) pyright
	@.venv/bin/lint-imports --no-logo

format: $(INSTALLED) ## format the code and mend what can be mended
	@$(RUN) ruff check --fix-only --quiet .
	@$(RUN) ruff format .

bench: $(INSTALLED) ## run the benchmarks
	@$(RUN) bench $(ARGS)

lock: ## write requirements.lock anew (ARGS=--upgrade for newer versions)
ifeq ($(UV),)
	$(require_python)
	@test -x .venv-lock/bin/uv || { $(PYTHON) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet uv; }
endif
	@$(or $(UV),.venv-lock/bin/uv) pip compile --quiet --universal --python-version 3.11 --all-extras \
		--generate-hashes --no-emit-index-url --no-header --no-annotate \
		--output-file requirements.lock $(ARGS) pyproject.toml

clean: ## remove all that was made here, the environment too
	@rm -rf .venv .venv-lock build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(LOCKED): requirements.lock
	$(require_python)
	@echo "Making .venv with the locked packages (once; about a minute) ..."
	@rm -rf .venv
ifeq ($(UV),)
	@$(PYTHON) -m venv .venv
	@$(RUN) pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
else
	@uv venv --quiet --python "$$(command -v $(PYTHON))" .venv
	@uv pip install --quiet --python .venv --require-hashes -r requirements.lock
endif
	@touch $@

$(INSTALLED): pyproject.toml $(LOCKED)
	@echo "Installing rookery into .venv ..."
ifeq ($(UV),)
	@$(RUN) pip --version >/dev/null 2>&1 || $(RUN) ensurepip >/dev/null  # uv makes environments without pip
	@$(RUN) pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
else
	@uv pip install --quiet --python .venv --no-deps --no-build-isolation --editable .
endif
	@touch $@
