#!/usr/bin/env bash
# Runs every fuzzer on its kept corpus (tests/corpus/NAME) and then on new inputs:
#   run_fuzzers.sh BUILD_DIR LIBFUZZER_OPTIONS...
# for example -runs=0 (the corpus alone), -runs=10000 -seed=1 (the same new inputs each time) or -max_total_time=600.
# Inputs that reach new code stay in BUILD_DIR/corpus; so does one that crashes, which ends the run with an error.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
shift

for file in "$root"/src/*/*_fuzz.cpp; do
  name=$(basename "$file" .cpp)
  mkdir -p "$build/corpus/$name"
  (cd "$build" && "./$name" -max_len=4096 -timeout=10 -verbosity=0 -print_final_stats=1 "$@" \
    -artifact_prefix="corpus/$name/" "corpus/$name" "$root/tests/corpus/$name" >"$name.log" 2>&1) ||
    { cat "$build/$name.log"; exit 1; }
  echo "$name: $(grep -o 'number_of_executed_units: *[0-9]*' "$build/$name.log" | grep -o '[0-9]*$') inputs"
done
