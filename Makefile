# Every developer command; `make help` lists them. CI runs the same recipes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/uv pip install -q --python $(BIN)/python -c constraints.txt
SOURCES := kserdes kserdes_base kafka_core registry serdes pipeline pyspark_kserdes tools tests benchmarks setup.py
PYTEST := $(BIN)/python -m pytest
FEATURES := cli,server,proto,rules,encryption,oauth,vault,aws,azure,gcp
EXTRAS ?= arrow,$(FEATURES),spark,demo,test,dev,docs
PYTEST_ARGS ?=
# The C code of the kernels has no warnings with GCC; another compiler may have other ones: make WARNINGS= kernels.
# CFLAGS take the place of Python's own, which wheels are built with: what is tested and measured is to be the same code.
# Cython's unpacking of packed texts stands unused in each module; tests/meta looks for unused functions of ours.
WARNINGS ?= -Wall -Wextra -Werror -Wno-unused-function
# Empty means that bytecode is written: without it, every process compiles all it imports, and pytest rewrites all tests.
export PYTHONDONTWRITEBYTECODE :=
export PYSPARK_PYTHON := $(abspath $(BIN))/python
export PYSPARK_DRIVER_PYTHON := $(abspath $(BIN))/python

.PHONY: help env kernels demo test test-asan test-fast test-pure test-slow test-spark40 test-spark41 test-pythons kernel-use stalls contract simulate simulate-mutations mutations damage check docs fmt generate bench bench-serdes bench-codecs bench-spark faults pipe wheel clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -c constraints.txt uv
	@$(INSTALL) setuptools cython
	@KSERDES_NO_NATIVE=1 $(INSTALL) --no-build-isolation -e '.[$(EXTRAS)]'
	@touch $@

$(VENV)/.kernels: $(VENV)/.installed setup.py $(wildcard */kernels/native/*.p[xy][xdi])
	@CFLAGS="-DNDEBUG -fwrapv $(WARNINGS)" KSERDES_REQUIRE_NATIVE=1 $(BIN)/python setup.py -q build_ext --inplace
	@touch $@

env: $(VENV)/.installed ## the environment: .venv with pinned versions

kernels: $(VENV)/.kernels ## build the compiled kernels in place

demo: kernels ## the main job end to end (BOOTSTRAP=host:port REGISTRY=url for a real cluster)
	@$(BIN)/python -m tools.demo $(if $(BOOTSTRAP),--bootstrap $(BOOTSTRAP)) $(if $(REGISTRY),--registry $(REGISTRY))

# What runs the same code on both kernel sets, or compares both in one test, need not be run on both.
NO_KERNELS := $(addprefix --ignore=tests/,meta simulation simulation_flows unit/registry unit/tools \
	unit/kserdes_base unit/kserdes/cli unit/serdes/rules unit/serdes/encryption unit/pipeline/test_clients.py \
	unit/pipeline/test_splits.py unit/kserdes/compat unit/kafka_core/aio/cluster unit/kafka_core/aio/net \
	unit/kafka_core/aio/tasks unit/kafka_core/protocol unit/kafka_core/wire unit/kafka_core/sync/test_loop_thread.py \
	contract/test_compat_simple.py contract/test_groups.py contract/test_consumer_protocol.py \
	contract/test_security.py contract/test_registry_contract.py faults/test_dropped_owners.py \
	faults/test_registry_input.py faults/test_registry_kill.py faults/test_threads.py faults/test_throttle.py \
	property/test_assignors.py property/test_avro_compat.py property/test_compat_laws.py \
	property/test_group_classic.py property/test_group_consumer.py property/test_json_verdicts.py \
	property/test_protocol_hostile.py property/test_protocol_roundtrip.py property/test_columns_parity.py \
	property/test_columns_json.py property/test_protobuf_columns.py property/test_kernel_parity.py)

# Modules of tests that call no kernel at all, found by counting; a slow test counts again.
WITHOUT_KERNELS := tests/without_kernels.txt

# Four of the seven run at a time on two cores: the first three mostly wait, for brokers and for Spark. All run, whatever
# failed before. Real brokers are in two of them, so that one chain of waits is not the longest part. As a part of
# `make -j4 ...` it shares the four.
test: kernels ## the fast tests on the pure kernels, and all but the slow ones on the compiled kernels
	@$(MAKE) -k $(if $(findstring jobserver,$(MAKEFLAGS)),,-j4) --no-print-directory test-native-contract \
		test-native-brokers test-native-spark test-native-rest test-native-unit test-pure-set test-native-peers

# The output of the others comes in one piece, when each has ended.
define IN_ONE_PIECE
log=$$(mktemp); status=0; $(1) >$$log 2>&1 || status=$$?; echo; echo "== $(2)"; cat $$log; rm -f $$log; exit $$status
endef

# An environment of its own with another Spark above the main one. Connectors of the same line: tools/spark_jars.py.
SPARK40 := 4.0.5
SPARK41 := 4.1.4
.venv-spark%/.installed: $(VENV)/.installed
	@test -x .venv-spark$*/bin/python || $(abspath $(BIN))/python -m venv .venv-spark$*
	@$(BIN)/uv pip install -q --python .venv-spark$*/bin/python pyspark==$(SPARK$*)
	@.venv-spark$*/bin/python -c "import pathlib, sys, sysconfig; \
		pathlib.Path(sysconfig.get_path('purelib'), 'zz-main.pth').write_text( \
		'import site; site.addsitedir(%r)\n' % sys.argv[1])" \
		$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
	@touch $@

define ON_ANOTHER_SPARK
KAFKA_CORE_KERNELS=native PYTHONPATH=$(CURDIR) PYSPARK_PYTHON=$(CURDIR)/.venv-spark$(1)/bin/python \
	PYSPARK_DRIVER_PYTHON=$(CURDIR)/.venv-spark$(1)/bin/python .venv-spark$(1)/bin/python -m pytest -q \
	-m "spark and not slow" $(if $(PYTEST_ARGS),$(PYTEST_ARGS),tests/spark)
endef

test-spark40: kernels .venv-spark40/.installed ## the fast tests with Spark on Spark 4.0
	@$(call ON_ANOTHER_SPARK,40)

test-spark41: kernels .venv-spark41/.installed ## the fast tests with Spark on Spark 4.1
	@$(call ON_ANOTHER_SPARK,41)

.PHONY: test-native-contract test-native-brokers test-native-spark test-native-peers test-pure-set test-native-unit test-native-rest
test-native-contract:
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m "(broker or registry) and not (spark or slow)" tests/contract $(PYTEST_ARGS)

test-native-brokers:
	@$(call IN_ONE_PIECE,KAFKA_CORE_KERNELS=native $(PYTEST) -q -m "(broker or registry) and not (spark or slow)" \
		tests/faults tests/interop $(PYTEST_ARGS),tests with real brokers)

test-native-spark:
	@$(call IN_ONE_PIECE,KAFKA_CORE_KERNELS=native $(PYTEST) -q -m "spark and not slow" tests/spark \
		$(PYTEST_ARGS),tests with Spark)

test-native-peers:
	@$(call IN_ONE_PIECE,KAFKA_CORE_KERNELS=native $(PYTEST) -q -m "interop and not (broker or registry or spark or slow)" \
		tests/faults tests/interop $(PYTEST_ARGS),tests beside other clients)

test-native-unit:
	@$(call IN_ONE_PIECE,KAFKA_CORE_KERNELS=native $(PYTEST) -q tests/unit $(PYTEST_ARGS),unit tests on the compiled kernels)

test-native-rest:
	@$(call IN_ONE_PIECE,KAFKA_CORE_KERNELS=native $(PYTEST) -q --ignore=tests/unit $(PYTEST_ARGS),all other fast tests on the compiled kernels)

test-pure-set:
	@$(call IN_ONE_PIECE,KAFKA_CORE_KERNELS=pure $(PYTEST) -q $(NO_KERNELS) $(addprefix --ignore=,$(file <$(WITHOUT_KERNELS))) $(PYTEST_ARGS),the fast tests on the pure kernels)

test-fast: kernels ## the tests that need neither network nor Java
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q $(PYTEST_ARGS)

test-pure: env ## the fast tests on the pure-Python kernels
	@KAFKA_CORE_KERNELS=pure $(PYTEST) -q $(PYTEST_ARGS)

kernel-use: env ## find the modules of tests that call no kernel: they need not run on the pure ones, too
	@KAFKA_CORE_KERNELS=pure HYPOTHESIS_PROFILE=ci $(PYTEST) -q -p tests.kernel_use $(NO_KERNELS) \
		--without-kernels=$(WITHOUT_KERNELS) $(PYTEST_ARGS)

# A copy of the sources, whose kernels are built with the sanitizers; leaks are looked for by tests of their own.
# ASAN_TESTS=tests/unit/serdes/kernels runs a part of it. Nothing is captured: a report ends the process (-s).
ASAN := build/asan
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
ASAN_TESTS ?= $(addprefix tests/,unit/serdes/kernels unit/serdes/columnar unit/serdes/formats unit/kafka_core/kernels \
	unit/kafka_core/records property/test_kernel_parity.py property/test_records.py property/test_columns_parity.py \
	property/test_columns_avro_frames.py property/test_protobuf_columns.py property/test_columns_json.py \
	property/test_columns_json_frames.py)

.PHONY: asan-kernels
asan-kernels: kernels
	@rm -rf $(ASAN) && mkdir -p $(ASAN) && git ls-files -z | tar -c --null -T - | tar -x -C $(ASAN)
	@cd $(ASAN) && KSERDES_REQUIRE_NATIVE=1 CFLAGS="$(SANITIZERS)" LDFLAGS="$(SANITIZERS)" \
		$(abspath $(BIN))/python setup.py -q build_ext --inplace

test-asan: asan-kernels ## all compiled kernels under the address and undefined-behaviour sanitizers (ASAN_TESTS)
	@cd $(ASAN) && KAFKA_CORE_KERNELS=native PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(abspath $(ASAN)) \
		LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
		$(abspath $(BIN))/python -m pytest -q -s -p no:cacheprovider -k "not leaks" $(ASAN_TESTS) $(PYTEST_ARGS)

test-slow: kernels ## the slow tests: older broker, long fuzzing, soak
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m slow -o faulthandler_timeout=0 $(PYTEST_ARGS)

PYTHONS ?= all
# What an interpreter can change: loops, threads and processes, compiled code, annotations, imports; see tests/README.md.
OTHER_PYTHONS := $(addprefix tests/,meta/test_public_names.py contract/test_aio.py contract/test_consume.py \
	contract/test_groups.py contract/test_produce.py contract/test_security.py contract/test_serdes_clients.py \
	faults/test_threads.py faults/test_calls_inside_callbacks.py faults/test_dropped_owners.py faults/test_throttle.py \
	property/test_kernel_parity.py property/test_serdes_roundtrip.py property/test_typed_roundtrip.py \
	unit/kafka_core/aio unit/kafka_core/sync unit/kafka_core/kernels unit/serdes/kernels unit/serdes/engine unit/serdes/test_typed.py \
	unit/kserdes/cli/test_cli.py unit/registry/client/test_aio.py unit/registry/client/test_blocking.py \
	unit/registry/client/test_forks.py)

test-pythons: ## what may differ between interpreters, on every other supported Python that pyenv has (PYTHONS=newest)
	@PYTHONS="$(PYTHONS)" PYTEST_ARGS="$(OTHER_PYTHONS) -k 'not capped' $(PYTEST_ARGS)" tools/test_pythons.sh arrow,$(FEATURES),test

# STALLS_SEED=7 STALLS_S=4 PYTEST_ARGS="tests/contract"; STALLS_LINE_S or STALLS_TURN_S: slow without luck.
stalls: kernels ## the fast tests while threads and the process stand still now and then (STALLS_SEED=0 STALLS_S=4)
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -p tests.stalls $(if $(PYTEST_ARGS),$(PYTEST_ARGS),tests/faults tests/contract \
		tests/unit/kafka_core/aio tests/unit/kafka_core/sync tests/unit/kafka_core/broker tests/unit/registry/client)

# SEEDS=200000 FROM=0 WORKERS=2; it stops by itself, with status 1 if a promise was broken.
SEEDS ?= 2000
FROM ?= 0
simulate: kernels ## the simulator: clients, brokers and network on virtual time (SEEDS=2000 FROM=0)
	@KAFKA_CORE_KERNELS=native $(BIN)/python -m tests.simulation.run --seeds $(SEEDS) --from $(FROM) $(SIMULATE_ARGS)

simulate-mutations: kernels ## put defects into the client and see that the simulator finds each
	@KAFKA_CORE_KERNELS=native $(BIN)/python -m tests.simulation.mutate $(SIMULATE_ARGS)

mutations: kernels ## put seventy-seven defects into copies of the sources and see that the tests notice each (MUTATIONS_ARGS)
	@$(BIN)/python -m tests.mutations.run --workers 2 $(MUTATIONS_ARGS)

damage: kernels ## clients whose answers are damaged on their way: 12 runs of 10,000 answers
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m slow -o faulthandler_timeout=0 tests/faults/test_damaged_answers.py $(PYTEST_ARGS)

contract: kernels ## the behavioural suite on the embedded broker and registry and on the real ones
	@KAFKA_CORE_KERNELS=native $(PYTEST) -q -m "not slow" tests/contract $(PYTEST_ARGS)

check: kernels ## format, lint, types, import rules, generated files, the site of the documentation
	@failed=0; \
	$(BIN)/ruff format --check $(SOURCES) || failed=$$?; \
	$(BIN)/ruff check $(SOURCES) || failed=$$?; \
	$(BIN)/mypy || failed=$$?; \
	$(BIN)/mypy --config-file tests/mypy.ini tests benchmarks || failed=$$?; \
	$(PYTEST) -q -m slow tests/typing || failed=$$?; \
	$(BIN)/lint-imports --no-cache || failed=$$?; \
	$(BIN)/python -m tools.generate --check || failed=$$?; \
	$(BIN)/mkdocs build --strict || failed=$$?; \
	exit $$failed

docs: env ## the guides and the reference of every public name as a site in build/site
	@$(BIN)/mkdocs build --strict  # --quiet would hide the warnings from --strict too
	@echo "build/site is written; python3 -m http.server -d build/site serves it"

fmt: env ## format and mend what can be mended
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

generate: env ## write the generated files again (needs Maven and Java)
	@$(BIN)/python -m tools.generate

bench: kernels bench-serdes ## rates as ratios to the peers: serializers, registry client, clients on one real broker
	@$(BIN)/python -m benchmarks.run $(BENCH_ARGS)
	@$(BIN)/python -m benchmarks.compat_kafka
	@$(BIN)/python -m benchmarks.latency
	@$(BIN)/python -m benchmarks.aiokafka_dialect

bench-codecs: kernels ## the codecs alone: what each path has to reach, what it reaches, and whether that is enough
	@$(BIN)/python -m benchmarks.codecs

bench-spark: kernels ## our functions, source and sink against Spark's own (Java, Maven)
	@$(BIN)/python -m benchmarks.spark $(BENCH_ARGS)
	@$(BIN)/python -m benchmarks.spark_source $(BENCH_ARGS)

bench-serdes: kernels ## the part of the benchmarks that needs no broker
	@$(BIN)/python -m benchmarks.serdes
	@$(BIN)/python -m benchmarks.avro_objects
	@$(BIN)/python -m benchmarks.columns
	@$(BIN)/python -m benchmarks.columns_protobuf
	@$(BIN)/python -m benchmarks.serdes_clients
	@$(BIN)/python -m benchmarks.columns_encode
	@$(BIN)/python -m benchmarks.registry_client
	@$(BIN)/python -m benchmarks.compat
	@$(BIN)/python -m benchmarks.imports

faults: kernels ## three real brokers and their faults, beside confluent-kafka (FAULTS=leader,reset ROUNDS=3)
	@$(BIN)/python -m tools.faults $(if $(FAULTS),--faults $(FAULTS)) $(if $(ROUNDS),--rounds $(ROUNDS))

pipe: kernels ## transactions on three real brokers whose parts are killed (ROUNDS=20, RECORDS=200000 in each)
	@$(BIN)/python -m tools.pipe $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(RECORDS),--records $(RECORDS))

wheel: kernels ## the wheel that is given to others, in dist/: small, the same for the same sources, looked through
	@$(BIN)/python -m tools.wheel

clean: ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-output
	find kafka_core serdes kserdes_base -name '*.so' -delete -o -path '*native*' -name '*.c' -delete -o -name '_cyutility.c' -delete
