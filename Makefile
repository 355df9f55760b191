# Every developer command; `make help` lists them. CI runs the same recipes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/uv pip install -q --python $(BIN)/python -c constraints.txt
SOURCES := kserdes kafka_core registry serdes pipeline pyspark_kserdes tools tests benchmarks setup.py
PYTEST := $(BIN)/python -m pytest
FEATURES := cli,server,proto,rules,encryption,vault,aws,azure,gcp
EXTRAS ?= arrow,$(FEATURES),spark,demo,test,dev
PYTEST_ARGS ?=
export PYSPARK_PYTHON := $(abspath $(BIN))/python
export PYSPARK_DRIVER_PYTHON := $(abspath $(BIN))/python

.PHONY: help env kernels demo test test-fast test-pure test-slow test-pythons contract simulate simulate-mutations damage check fmt generate bench bench-serdes faults clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -c constraints.txt uv
	@$(INSTALL) setuptools cython
	@KSERDES_NO_NATIVE=1 $(INSTALL) --no-build-isolation -e '.[$(EXTRAS)]'
	@touch $@

$(VENV)/.kernels: $(VENV)/.installed setup.py $(wildcard */kernels/native/*.pyx */kernels/native/*.pxd)
	@$(BIN)/python setup.py -q build_ext --inplace
	@touch $@

env: $(VENV)/.installed ## the environment: .venv with pinned versions

kernels: $(VENV)/.kernels ## build the compiled kernels in place

demo: kernels ## the main job end to end (BOOTSTRAP=host:port REGISTRY=url for a real cluster)
	@$(BIN)/python -m tools.demo $(if $(BOOTSTRAP),--bootstrap $(BOOTSTRAP)) $(if $(REGISTRY),--registry $(REGISTRY))

# What runs the same code on both kernel sets need not be tested on both.
NO_KERNELS := $(addprefix --ignore=tests/,unit/registry unit/tools unit/serdes/rules unit/serdes/encryption meta \
	simulation simulation_flows faults/test_registry_kill.py faults/test_registry_input.py \
	property/test_assignors.py property/test_avro_compat.py property/test_compat_laws.py property/test_group_classic.py \
	property/test_json_verdicts.py)

# Both sets at the same time, and all parts run, whatever failed before: the first failure must not hide the second.
test: kernels ## the fast tests on the pure kernels, and all but the slow ones on the compiled kernels
	@$(MAKE) -k -j2 --no-print-directory test-native-set test-pure-set

.PHONY: test-native-set test-pure-set
test-native-set:
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m "not slow" $(PYTEST_ARGS)

# Its output comes in one piece, when it ends.
test-pure-set:
	@log=$$(mktemp); status=0; \
	KAFKA_CORE_KERNELS=pure $(PYTEST) -q $(NO_KERNELS) $(PYTEST_ARGS) >$$log 2>&1 || status=$$?; \
	echo; echo "== the fast tests on the pure kernels"; cat $$log; rm -f $$log; exit $$status

test-fast: kernels ## the tests that need neither network nor Java
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q $(PYTEST_ARGS)

test-pure: env ## the fast tests on the pure-Python kernels
	@KAFKA_CORE_KERNELS=pure $(PYTEST) -q $(PYTEST_ARGS)

test-slow: kernels ## the slow tests: older broker, long fuzzing, soak
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m slow $(PYTEST_ARGS)

# What does not depend on the interpreter: the rules of compatibility, the bytes of messages, the simulators.
NO_PYTHON := $(addprefix --ignore=tests/,meta simulation simulation_flows unit/registry/compat unit/registry/schemas unit/tools \
	property/test_assignors.py property/test_avro_compat.py property/test_compat_laws.py property/test_group_classic.py \
	property/test_json_verdicts.py property/test_protocol_roundtrip.py property/test_protocol_hostile.py)

test-pythons: ## the fast tests on every other supported Python that pyenv has
	@PYTEST_ARGS="$(NO_PYTHON) $(PYTEST_ARGS)" tools/test_pythons.sh arrow,$(FEATURES),test

# SEEDS=200000 FROM=0 WORKERS=2; it stops by itself, with status 1 if a promise was broken.
SEEDS ?= 2000
FROM ?= 0
simulate: kernels ## the simulator: clients, brokers and network on virtual time (SEEDS=2000 FROM=0)
	@KAFKA_CORE_KERNELS=native $(BIN)/python -m tests.simulation.run --seeds $(SEEDS) --from $(FROM) $(SIMULATE_ARGS)

simulate-mutations: kernels ## put defects into the client and see that the simulator finds each
	@KAFKA_CORE_KERNELS=native $(BIN)/python -m tests.simulation.mutate $(SIMULATE_ARGS)

damage: kernels ## clients whose answers are damaged on their way: 12 runs of 10,000 answers
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m slow tests/faults/test_damaged_answers.py $(PYTEST_ARGS)

contract: kernels ## the behavioural suite on the embedded broker and registry and on the real ones
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m "not slow" tests/contract $(PYTEST_ARGS)

check: kernels ## format, lint, types, import rules, generated files
	@failed=0; \
	$(BIN)/ruff format --check $(SOURCES) || failed=$$?; \
	$(BIN)/ruff check $(SOURCES) || failed=$$?; \
	$(BIN)/mypy || failed=$$?; \
	$(BIN)/mypy --config-file tests/mypy.ini tests benchmarks || failed=$$?; \
	$(PYTEST) -q -m slow tests/typing || failed=$$?; \
	$(BIN)/lint-imports --no-cache || failed=$$?; \
	$(BIN)/python -m tools.generate --check || failed=$$?; \
	exit $$failed

fmt: env ## format and mend what can be mended
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

generate: env ## write the generated files again (needs Maven and Java)
	@$(BIN)/python -m tools.generate

bench: kernels bench-serdes ## rates as ratios to the peers: serializers, registry client, clients on one real broker
	@$(BIN)/python -m benchmarks.run $(BENCH_ARGS)

bench-serdes: kernels ## the part of the benchmarks that needs no broker
	@$(BIN)/python -m benchmarks.serdes
	@$(BIN)/python -m benchmarks.registry_client
	@$(BIN)/python -m benchmarks.compat
	@$(BIN)/python -m benchmarks.imports

faults: kernels ## three real brokers and their faults, beside confluent-kafka (FAULTS=leader,reset ROUNDS=3)
	@$(BIN)/python -m tools.faults $(if $(FAULTS),--faults $(FAULTS)) $(if $(ROUNDS),--rounds $(ROUNDS))

clean: ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-output
	find kafka_core -name '*.so' -delete -o -path '*native*' -name '*.c' -delete
