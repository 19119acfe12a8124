#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests: test.sh [PRESET] (release, dev, asan, tsan).
# Checks of real time (label "measured") run after the rest, alone, with one repeat: a busy machine can spoil one.
set -euo pipefail
cd "$(dirname "$0")"
preset=${1:-release}

tools/install_packages.sh build test
cmake --preset "$preset" -DONBEAT_TESTS=ON >/dev/null
cmake --build --preset "$preset"
ctest --preset "$preset" --label-exclude measured --parallel 2
ctest --preset "$preset" --label-regex measured --repeat until-pass:2
