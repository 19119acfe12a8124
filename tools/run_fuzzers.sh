#!/usr/bin/env bash
# Runs every fuzzer on its kept corpus, then for some seconds on new inputs: run_fuzzers.sh BUILD_DIR SECONDS
# New inputs that find new code stay in BUILD_DIR; a crash is left there too, and ends the run with an error.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
seconds=$2

while read -r name folder; do
  corpus="$folder/corpus/$name"
  mkdir -p "$build/corpus/$name"
  inputs=()
  [ -d "$corpus" ] && inputs=("$corpus")
  (cd "$build" && "./$name" -max_total_time="$seconds" -max_len=4096 -timeout=10 -verbosity=0 -print_final_stats=1 \
    "corpus/$name" "${inputs[@]}" 2>&1 | grep -E 'number_of_executed_units|ERROR|SUMMARY' | sed "s/^/$name: /")
done < <(cd "$root" && find src -name '*_fuzz.cpp' | while read -r file; do
  echo "$(basename "$file" .cpp) $root/$(dirname "$file")"
done)
