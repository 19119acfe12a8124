#!/usr/bin/env bash
# Installs what is missing, builds Onbeat, and loads its built-in target (5 ms a request) at 1,000 requests/s for 10 s.
set -euo pipefail
cd "$(dirname "$0")"

tools/install_packages.sh build
[ -f build/release/build.ninja ] || cmake --preset release -DONBEAT_TESTS=OFF >/dev/null
cmake --build --preset release --target onbeat

onbeat=build/release/onbeat
mkdir -p build/demo
"$onbeat" target http --delay 5ms >build/demo/target.log &
target=$!
trap 'kill $target 2>/dev/null || true; wait $target 2>/dev/null || true' EXIT
for _ in $(seq 100); do
  address=$(grep -om1 '[0-9.]*:[0-9]\+' build/demo/target.log) && break
  sleep 0.05
done
[ -n "$address" ] || { echo "error: the target did not start" >&2; exit 1; }

code=0
"$onbeat" http "http://$address/" --rate 1000 --duration 10s --threshold 'p(99) < 25ms' --out html=build/demo/report.html || code=$?
echo
echo "The same as a page: build/demo/report.html"
echo "Load your own:      $onbeat http http://HOST/PATH --rate 1000 --duration 30s"
echo "Look at it first:   $onbeat http http://HOST/PATH --once      ($onbeat http --help shows everything)"
exit $code
