# make demo and make test need only Python 3.11+, make and git.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test quick docs learn clean

demo: .venv/installed
	$(BIN)/merlax train rover-3 --frames 1000000 --out runs/demo --force

test: .venv/installed-dev
	$(BIN)/ruff check src tests benchmarks examples docs/tools
	$(BIN)/ruff format --check src tests benchmarks examples docs/tools
	$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

# The inner loop: everything but the slow tests, in less than two minutes on 2 cores.
quick: .venv/installed-dev
	$(BIN)/ruff check src tests benchmarks examples docs/tools
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder -m 'not slow'

# The site, in site/docs/index.html; a warning is an error. The pages link to results and examples, so these lie beside it;
# what they play is made from champions/.
docs: .venv/installed-docs
	rm -rf site
	$(BIN)/python docs/tools/replays.py --pages
	$(BIN)/zensical build --clean --strict
	cp -r results examples champions site/

# The scores of docs/results.md, from scratch: well over an hour on 2 cores.
learn: .venv/installed
	$(BIN)/merlax reproduce scores

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("merlax needs Python 3.11 or newer; this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[tensorboard]'
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

clean:
	rm -rf .venv .cache runs site
