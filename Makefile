# Everything a person needs: `make demo`, `make test`. Each sets up its own environment in .venv.
PYTHON ?= python3
BIN := .venv/bin
# with and without torch are two states of .venv: the one does not stand for the other
READY := .venv/.ready$(if $(filter 1,$(SSME_TORCH)),-torch)

.PHONY: help setup demo test test-fast test-lowest test-integrations test-processors package package-matrix sbom mutation coverage lint types docs docs-check bench bench-quick speed sample lock clean

help:
	@echo "make demo         estimate six classifiers from 30 labels, beside the truth"
	@echo "make test         the whole test suite"
	@echo "make test-fast    the part of it that takes under a minute"
	@echo "make test-lowest  a part of it with the lowest versions allowed"
	@echo "make test-processors  tests on random draws as other processors compute"
	@echo "make lint types docs-check    what CI checks besides"
	@echo "make docs         the documentation as a site in build/docs; a warning is an error"
	@echo "make bench-quick  a reduced main table and figure (under 5 minutes)"
	@echo "make bench        every experiment, then its report (WORKERS=15, RUNS='all_sets=10')"

$(READY): pyproject.toml constraints.txt scripts/setup
	@PYTHON=$(PYTHON) bash scripts/setup
	@touch $(READY)

setup: $(READY)

demo: $(READY)
	@$(BIN)/ssme demo

# one thread per process: two processes on two cores, whose threads would wait for each other
test test-fast test-lowest test-integrations test-processors: export OMP_NUM_THREADS = 1

test: $(READY)
	@$(BIN)/pytest -n 2 --dist loadgroup

# data, metrics, messages, warnings, answers and every kept number: what a change breaks first
FAST := tests/data tests/metrics tests/mixture tests/messages tests/diagnostics tests/results tests/suggest \
	tests/reference/test_kept_numbers.py tests/contract/test_registered.py tests/contract/test_capabilities.py \
	tests/show/test_document.py tests/test_config.py tests/test_errors.py tests/test_options.py \
	tests/test_schema.py tests/test_spec.py tests/test_wording.py tests/test_writing.py
test-fast: $(READY)
	@$(BIN)/pytest -q -n 2 --dist loadfile $(FAST)

# tests on random draws with the instructions of other processors, as far as this one has them
DRAWN := tests/statistical tests/methods/auto tests/suggest tests/decide tests/groups \
	tests/torture/test_determinism.py
PROCESSORS := Prescott $(if $(shell grep -m1 -o avx512f /proc/cpuinfo 2> /dev/null),SkylakeX)
test-processors: $(READY)
	@for name in $(PROCESSORS); do echo "OPENBLAS_CORETYPE=$$name"; \
		OPENBLAS_CORETYPE=$$name $(BIN)/pytest -q $(DRAWN) || exit 1; done

# the oldest versions that pyproject.toml allows, of what it names itself
test-lowest: $(READY)
	@$(BIN)/uv venv -q --clear --python $(PYTHON) .venv-lowest
	@$(BIN)/uv pip install -q --python .venv-lowest/bin/python --resolution lowest-direct -e '.[parquet,yaml,report,dask,excel]' \
		'pytest>=8' 'hypothesis>=6.100' 'pytest-timeout>=2.3' 'pytest-xdist>=3.6' 'polars>=1'
	@env -u SSME_REQUIRE .venv-lowest/bin/python -m pytest -q -n 2 -W default \
		--deselect tests/cli/test_program.py::test_help_imports_nothing_heavy tests/test_public.py tests/test_run.py tests/test_config.py \
		tests/cli/test_program.py tests/cli/test_evaluate.py tests/cli/test_report.py tests/data/readers tests/stream/test_evaluation.py

# MLflow, W&B, and the harnesses whose logs are read, in a separate environment; promptfoo needs npm
HARNESSES := inspect-ai lm-eval deepeval wandb ragas "langchain-community<0.4"
NODE := $(CURDIR)/.venv-promptfoo
test-integrations: $(READY)
	@$(BIN)/uv venv -q --clear --seed --python $(PYTHON) .venv-integrations || $(PYTHON) -m venv .venv-integrations
	@$(BIN)/uv pip install -q --python .venv-integrations/bin/python -e '.[test,docs,mlflow]' $(HARNESSES) || \
		.venv-integrations/bin/python -m pip install -q --disable-pip-version-check -e '.[test,docs,mlflow]' $(HARNESSES)
	@[ -x $(NODE)/node_modules/.bin/promptfoo ] || ! command -v npm > /dev/null || \
		npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(NODE) promptfoo
	@PATH=$(NODE)/node_modules/.bin:$$PATH PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 SSME_REQUIRE=mlflow,harness .venv-integrations/bin/pytest -p pytest_timeout -m 'mlflow or harness' tests/integrations

package: $(READY)
	$(BIN)/python scripts/check_package.py

# the wheel alone on every Python here, lowest and newest dependencies, mypy and pyright (10 minutes)
package-matrix: $(READY)
	$(BIN)/python scripts/package_matrix.py

sbom: $(READY)
	$(BIN)/python scripts/make_sbom.py

# lines and branches of src that the suite runs, processes that it starts included; writes the figures
# into docs/reliability.md, and fails below 95 %; tests that only repeat what others run are left out
REPEATING := tests/statistical tests/docs tests/fuzz tests/test_fuzz_run.py
coverage: $(READY)
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m coverage run -m pytest -q -n $(WORKERS) --dist loadgroup $(REPEATING:%=--ignore=%) || true
	@$(BIN)/python -m coverage combine -q
	@$(BIN)/python -m coverage report --sort=cover --skip-covered
	@$(BIN)/python -m benchmarks.coverage --least 0.95; told=$$?; $(BIN)/python -m benchmarks.quotes && exit $$told

# faults put into a sample of the statistics: does a test notice? (an hour of CPU; RESUME=--resume goes on)
mutation: $(READY)
	$(BIN)/python -m benchmarks.mutation.run --workers $(WORKERS) $(RESUME)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_imports.py
	$(BIN)/python scripts/check_names.py
	$(BIN)/python scripts/check_words.py
	$(BIN)/codespell src docs README.md CHANGELOG.md CONTRIBUTING.md benchmarks/REPORT.md benchmarks/evidence

types: $(READY)
	$(BIN)/mypy

docs-check: $(READY)
	$(BIN)/python scripts/check_docs.py
	$(BIN)/python -m benchmarks.provenance
	$(BIN)/python -m benchmarks.report --check
	$(BIN)/python -m benchmarks.quotes --check

# make docs DOCS_BIN=.venv-integrations/bin: with the outputs of MLflow too (after make test-integrations)
DOCS_BIN ?= $(BIN)
docs: $(READY)
	@rm -rf docs/learn docs/generated
	@OMP_NUM_THREADS=1 $(DOCS_BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

sample: $(READY)
	$(BIN)/python scripts/make_sample.py

WORKERS ?= 2
RUNS ?=

bench-quick: $(READY)
	@$(BIN)/python -m benchmarks.accuracy quick --workers $(WORKERS)

# make bench WORKERS=15 RUNS='main_tables=25 all_sets=10'; interrupted, it goes on where it stopped
bench: $(READY)
	@$(BIN)/python -m benchmarks.accuracy --workers $(WORKERS) $(if $(RUNS),--runs $(RUNS))

speed: $(READY)
	@for file in benchmarks/speed/[a-z]*.py; do $(BIN)/python -m benchmarks.speed.$$(basename $$file .py); done

lock: $(READY)
	$(BIN)/uv pip compile -q --universal --extra dev --no-header --no-annotate pyproject.toml -o constraints.txt

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
