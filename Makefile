# `make demo` and `make test` are all the set-up there is: each makes its environment if it is absent or older than the pins.

PYTHON ?= python3
VENV ?= .venv
# Spinning threads of two processes on a small machine make torch ten times slower; one thread each is the safe default.
export OMP_NUM_THREADS = 1
export VENV

.PHONY: demo test docs env pins

demo: env
	@$(VENV)/bin/snellen demo --out demo

test: env
	@scripts/check
	@scripts/test

docs: env
	@scripts/docs
	@echo "build/docs/index.html"

env: $(VENV)/installed

$(VENV)/installed: constraints.txt pyproject.toml
	@set -e; start=$$(date +%s); rm -rf $(VENV); \
	echo "Creating the environment $(VENV) and installing the pinned packages; this takes a minute or two."; \
	$(PYTHON) -m venv $(VENV); \
	$(VENV)/bin/pip install -qq --disable-pip-version-check --require-hashes -r constraints.txt; \
	$(VENV)/bin/pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	touch $@; \
	seconds=$$(( $$(date +%s) - start )); \
	echo "The environment is ready after $$(( seconds / 60 )) min $$(( seconds % 60 )) s."

# Needs uv and pip-tools. The heavy pins take torch's CPU file wherever pip is told to find one.
# The packages that only tests/exchange uses are pinned without what they need: lmms-eval alone names
# 50 packages, and its evaluator imports a few of them. Every Eval Ever names Python 3.12.
pins:
	uv pip compile -q --upgrade --generate-hashes --no-header --no-annotate --universal \
	    --python-version 3.11 --extra dev -o constraints.txt pyproject.toml
	cp constraints.txt constraints-exchange.txt
	uv pip compile -q --generate-hashes --no-header --no-annotate --universal \
	    --python-version 3.11 --extra dev --extra exchange -o constraints-exchange.txt pyproject.toml
	printf '%s\n' 'accelerate==1.15.0' 'every-eval-ever==0.3.0' 'lm-eval==0.4.13' 'lmms-eval==0.7.3' | \
	    uv pip compile -q --no-deps --generate-hashes --no-header --no-annotate --python-version 3.12 \
	    - >> constraints-exchange.txt
	printf '%s\n' 'torch==2.13.0' 'torchvision==0.28.0' 'transformers[serving]==5.23.0' \
	    'ray==2.60.0' | \
	    pip-compile -q --upgrade --generate-hashes --no-header --no-annotate --no-emit-index-url \
	    --no-emit-find-links --allow-unsafe --strip-extras -c constraints.txt \
	    -o constraints-heavy.txt -
	sed -i '1i # For x86-64 Linux, CPython 3.11 and torch 2.13.0 built for the CPU only; made by `make pins`.' \
	    constraints-heavy.txt
	sed -n '/^torch==/,/[^\\]$$/p' constraints-heavy.txt >> constraints-exchange.txt
