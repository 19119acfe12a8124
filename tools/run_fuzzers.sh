#!/usr/bin/env bash
# Runs every fuzzer on its kept corpus (tests/corpus/NAME), then for some seconds on new inputs:
#   run_fuzzers.sh BUILD_DIR SECONDS
# Inputs that reach new code stay in BUILD_DIR/corpus; so does one that crashes, which ends the run with an error.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
seconds=$2

for file in "$root"/src/*/*_fuzz.cpp; do
  name=$(basename "$file" .cpp)
  mkdir -p "$build/corpus/$name"
  (cd "$build" && "./$name" -max_total_time="$seconds" -max_len=4096 -timeout=10 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="corpus/$name/" "corpus/$name" "$root/tests/corpus/$name" >"$name.log" 2>&1) ||
    { cat "$build/$name.log"; exit 1; }
  echo "$name: $(grep -o 'number_of_executed_units: *[0-9]*' "$build/$name.log" | grep -o '[0-9]*$') inputs"
done
