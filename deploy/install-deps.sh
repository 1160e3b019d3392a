#!/usr/bin/env bash
#
# Installs the Debian packages that a task needs, as far as they are missing. When all are there it
# neither calls apt nor needs root or the network.

set -euo pipefail

usage() {
  cat <<'EOF_USAGE'
usage: deploy/install-deps.sh SET...

Installs with apt what is missing of these sets of packages:
  build     what linkvaned and linkvane are built with, and what deploy/run.sh runs
  test      what the tests need besides
  sanitize  what sanitized builds need besides (nothing, unless $CXX is clang)
  fuzz      what the fuzz targets need besides
  bench     what the benchmarks need besides
  lint      the checkers that .ci/run runs
EOF_USAGE
}

if (($# == 0)); then
  usage >&2
  exit 2
fi

wanted=()
for set in "$@"; do
  case $set in
    build)
      wanted+=(g++ cmake ninja-build pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler
        protobuf-compiler-grpc libabsl-dev libspdlog-dev iproute2)
      ;;
    test)
      wanted+=(libgtest-dev libgmock-dev python3 python3-grpcio python3-protobuf python3-yaml
        iproute2)
      ;;
    sanitize) if [[ ${CXX:-} == *clang* ]]; then wanted+=(libclang-rt-14-dev); fi ;;
    fuzz) wanted+=(clang-14 libclang-rt-14-dev) ;;
    bench) wanted+=(libbenchmark-dev) ;;
    lint)
      wanted+=(clang-format-14 clang-tidy-14 make shellcheck)
      # Node.js may have come from elsewhere, with an npm of its own.
      if ! command -v npm >/dev/null; then wanted+=(nodejs npm); fi
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      echo "install-deps.sh: there is no set of packages named '$set'; see --help" >&2
      exit 2
      ;;
  esac
done

if ! command -v apt-get >/dev/null; then
  echo "install-deps.sh: no apt here; going on as if these were installed: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) || true
  if [[ $state != installed ]]; then missing+=("$package"); fi
done
if ((${#missing[@]} == 0)); then exit 0; fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install-deps.sh: cannot install without root or sudo: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null >&2
}

echo "install-deps.sh: installing ${missing[*]}" >&2
apt_get update
apt_get install --yes --no-install-recommends "${missing[@]}"
