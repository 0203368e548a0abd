# The commands a person types; CMake does the building. `make demo` and `make check` start from a bare Debian 12.

FUZZ_SECONDS ?= 600

# Without cmocka there are no tests to build.
CONFIGURE = cmake --preset release $$(pkg-config --exists cmocka || echo -DBUILD_TESTING=OFF)

.PHONY: help demo build check check-long mutants bench docs surrogates studies fuzz format format-check readme install package wheel clean

help:
	@echo 'make demo          build, and map ResNet-18 onto an accelerator'
	@echo 'make check         every test, in an optimised build and under sanitizers'
	@echo 'make build         build/sextant, and the shared library that Python uses'
	@echo 'make docs          the documentation site, build-docs/index.html'
	@echo 'make bench         how fast the model is'
	@echo 'make studies       what the papers measured, measured again, and proofs (hours; SEEDS=2 for a first look)'
	@echo 'make surrogates    train the surrogates of share/sextant anew (minutes)'
	@echo 'make mutants       apply every mutant of tests/mutants/, and others made by machine: tests must fail (docs/testing.md)'
	@echo 'make check-long    mutants, the property tests with a million cases each, every allocation and system call failing (hours)'
	@echo 'make fuzz          every fuzz target for FUZZ_SECONDS (600)'
	@echo 'make format        format the code; format-check only looks'
	@echo 'make readme        put what the program says into README.md'
	@echo 'make install       into PREFIX (the CMake default is used without)'
	@echo 'make wheel         a wheel for pip, in build-wheel/dist'
	@echo 'make package       Debian packages and a tarball, in build-package'
	@echo 'make clean         remove the build folders'

demo: build
	build/sextant map --arch eyeriss --problem resnet18

build:
	@tools/setup build
	@$(CONFIGURE) >/dev/null
	@cmake --build --preset release --target sextant libsextant

check:
	@tools/setup build test
	@tools/check

check-long:
	@tools/setup build test
	@tools/analyse
	@tools/mutants
	@tools/mutants --independent
	@tools/mutants --make proof --count 40 --least 75
	@tools/mutants --make rest --count 20 --least 35
	cmake --preset long
	cmake --build --preset long
	ctest --preset long --verbose

docs: build
	@tools/setup docs
	@tools/docs build build-docs

mutants:
	@tools/setup build test
	@tools/mutants
	@tools/mutants --make all

bench:
	@tools/setup build
	$(CONFIGURE)
	cmake --build --preset release --target bench
	@for program in build/bench/bench-*; do echo "$$program"; "$$program" || exit 1; done
	@bench/instructions build/bench/bench-evaluate build/sextant
	@bench/ranks build/sextant
	@PYTHONPATH=python bench/batch.py

surrogates: build
	@tools/surrogates build/sextant

studies:
	@tools/setup build
	$(CONFIGURE)
	cmake --build --preset release --target studies
	@bench/studies/mind-mappings build/sextant
	@bench/studies/few-evaluations build/sextant
	@bench/studies/learning build/sextant
	@bench/studies/placement build/sextant
	@bench/studies/demystifying build/sextant
	@bench/studies/codesign build/sextant
	@bench/studies/mappers build/sextant
	@build/bench/study-warm-start
	@build/bench/study-distance
	@build/bench/study-sunstone
	@build/bench/study-links
	@build/bench/study-windows
	@build/bench/study-optimal
	@build/bench/study-systolic-claims
	@build/bench/study-systolic-methods

fuzz:
	@tools/setup build test fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	@tools/fuzz $(FUZZ_SECONDS)

format:
	@tools/setup test
	@tools/format

format-check:
	@tools/setup test
	@tools/format --check

readme: build
	@tools/readme build/sextant

install: build
	cmake --build --preset release
	cmake --install build $(if $(PREFIX),--prefix $(PREFIX))

wheel:
	@tools/setup build wheel
	@tools/wheel build-wheel

package:
	@tools/setup build package
	cmake --preset package
	cmake --build --preset package --target all
	cd build-package && cpack
	@if command -v lintian >/dev/null; then lintian --fail-on error build-package/*.deb; else echo 'lintian is not there: packages are not checked'; fi

clean:
	rm -rf build build-clang build-debug build-asan build-tsan build-fuzz build-long build-mutants build-package build-wheel
