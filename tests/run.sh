#!/usr/bin/env bash
#
# Builds everything and runs the tests. What it prints last are ctest's own closing lines, and its
# exit status is ctest's.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'EOF_USAGE'
usage: tests/run.sh [--sanitize=address|thread] [--fuzz=SECONDS | --bench] [-- CTEST_ARGUMENT...]

Installs with apt what is missing, builds into build/release (build/asan, build/tsan, build/fuzz),
and runs the tests. Those that need a network of their own run in network namespaces; when not root, all of them
run under sudo, where there is one.

  --sanitize=address  with the address and undefined behaviour sanitizers
  --sanitize=thread   with the thread sanitizer; the kernel layer and the state only
  --fuzz=SECONDS      instead of the tests, the fuzz targets, each for that long
  --bench             instead of the tests, the benchmarks, one after the other
  -- ARGUMENT...      what follows goes to ctest: tests/run.sh -- -R dump

Environment: LINKVANE_WERROR=ON makes compiler warnings errors.
EOF_USAGE
}

wrong_usage() {
  echo "run.sh: $*; see --help" >&2
  exit 2
}

preset=release
packages=(build test)
kind=tests
ctest_arguments=()
while (($# > 0)); do
  case $1 in
    --sanitize=address) preset=asan ;;
    --sanitize=thread) preset=tsan ;;
    --sanitize | --sanitize=*) wrong_usage "--sanitize takes address or thread" ;;
    --fuzz=*)
      if [[ ! ${1#*=} =~ ^[1-9][0-9]*$ ]]; then
        wrong_usage "--fuzz takes a number of seconds, not '${1#*=}'"
      fi
      if [[ $kind == bench ]]; then wrong_usage "--fuzz and --bench do not go together"; fi
      kind=fuzz
      packages+=(fuzz)
      export LINKVANE_FUZZ_SECONDS=${1#*=}
      ;;
    --fuzz) wrong_usage "--fuzz takes a number of seconds: --fuzz=60" ;;
    --bench)
      if [[ $kind == fuzz ]]; then wrong_usage "--fuzz and --bench do not go together"; fi
      kind=bench
      packages+=(bench)
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    --)
      shift
      ctest_arguments=("$@")
      break
      ;;
    *) wrong_usage "unknown argument '$1'" ;;
  esac
  shift
done
if [[ $kind == bench && $preset != release ]]; then
  wrong_usage "a benchmark of a sanitized build says nothing"
fi
if [[ $kind == fuzz ]]; then
  if [[ $preset != release ]]; then wrong_usage "fuzz targets have sanitizers of their own"; fi
  preset=fuzz
elif [[ $preset != release ]]; then
  packages+=(sanitize)
fi

deploy/install-deps.sh "${packages[@]}"

configure=(cmake --preset "$preset" -DBUILD_TESTING=ON)
if [[ -n ${LINKVANE_WERROR:-} ]]; then configure+=(-DLINKVANE_WERROR="$LINKVANE_WERROR"); fi
"${configure[@]}"
cmake --build "build/$preset"

ctest=(ctest --test-dir "build/$preset" --output-on-failure)
case $kind in
  tests) ctest+=(--label-exclude '^(fuzz|bench)$' --parallel "$(nproc)" --timeout 300) ;;
  fuzz) ctest+=(--label-regex '^fuzz$' --timeout $((LINKVANE_FUZZ_SECONDS + 120))) ;;
  bench) ctest+=(--label-regex '^bench$' --verbose) ;;
esac
if [[ $kind != tests ]]; then
  count=$("${ctest[@]}" --show-only | sed -n 's/^Total Tests: //p')
  if ((count == 0)); then
    case $kind in
      fuzz) echo "run.sh: there are no fuzz targets in this release" >&2 ;;
      bench) echo "run.sh: there are no benchmarks in this release" >&2 ;;
    esac
    exit 2
  fi
fi
ctest+=(--no-tests=error "${ctest_arguments[@]}")

if [[ $preset == tsan ]] && setarch --addr-no-randomize true 2>/dev/null; then
  # Where the kernel randomises addresses widely, GCC 12's thread sanitizer does not start.
  ctest=(setarch --addr-no-randomize "${ctest[@]}")
fi

as_root=()
if ((EUID != 0)); then
  if command -v sudo >/dev/null; then
    # Made by us, so that we can remove what root leaves in it.
    mkdir -p "build/$preset/Testing/Temporary"
    as_root=(sudo --preserve-env)
  else
    echo "run.sh: neither root nor sudo: tests in network namespaces cannot do their work" >&2
  fi
fi
exec "${as_root[@]}" "${ctest[@]}"
