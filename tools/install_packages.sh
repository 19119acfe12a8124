#!/usr/bin/env bash
# Installs the Debian packages that are missing: install_packages.sh build [test]
# "build" is what the program needs, "test" what its tests need beyond that.
set -euo pipefail

build=(clang-19 lld-19 cmake ninja-build pkg-config git ca-certificates
       libstdc++-12-dev libboost1.81-dev libfmt-dev nlohmann-json3-dev zlib1g-dev libssl-dev libyaml-cpp-dev libre2-dev
       libnghttp2-dev libprotobuf-dev libprotoc-dev libjq-dev libzstd-dev liblz4-dev)
test=(libclang-rt-19-dev llvm-19 clang-format-19 libgtest-dev libgmock-dev libbenchmark-dev libhttp-parser-dev librapidcheck-dev
      nginx-light nghttp2-server nghttp2-client curl libgrpc++-dev protobuf-compiler protobuf-compiler-grpc python3-grpcio
      python3 python3-jsonschema python3-junitparser python3-markdown-it python3-prometheus-client influxdb
      util-linux procps strace
      python3-html5lib chromium chromium-driver fonts-dejavu-core
      bash zsh fish groff-base mandoc lintian apt dpkg-dev binutils file python3-yaml)

wanted=()
for group in "$@"; do
  declare -n packages=$group
  wanted+=("${packages[@]}")
done
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2>/dev/null | awk '$2 == "installed" {print $1}')
missing=()
for package in "${wanted[@]}"; do
  # Any build of nginx will do.
  [ "$package" = nginx-light ] && command -v nginx >/dev/null && continue
  grep -qx "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing: ${missing[*]}"
root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "error: to install packages, run this as root or install sudo" >&2; exit 1; }
  root=(sudo)
fi
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
