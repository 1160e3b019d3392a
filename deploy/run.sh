#!/usr/bin/env bash
#
# Builds linkvaned and linkvane, and shows them at work on this machine. It changes nothing on the
# host: the changes that --once makes are made in a network namespace of their own, which ends with
# the server in it.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly linkvaned=build/release/server/linkvaned
readonly linkvane=build/release/client/linkvane
readonly patience_seconds=20

usage() {
  cat <<'EOF_USAGE'
usage: deploy/run.sh [--once]

Installs with apt what is missing, builds linkvaned and linkvane into build/release, starts a server
on a private socket, prints the interfaces and addresses of this machine, and then every change
until Ctrl-C.

  --once  instead of waiting for changes, make some in a new network namespace, show that a watch
          on a server in there sees each of them, and end. The exit status is 0 if it did. Needs
          root, or a kernel that lets users create namespaces.
EOF_USAGE
}

fail() {
  echo "run.sh: $*" >&2
  exit 1
}

once=false
for argument in "$@"; do
  case $argument in
    --once) once=true ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      echo "run.sh: unknown argument '$argument'; see --help" >&2
      exit 2
      ;;
  esac
done

if $once; then
  if unshare --net true 2>/dev/null; then
    with_new_namespace=(unshare --net --)
    with_namespace_of=(nsenter --net --target)
  elif unshare --user --map-root-user --net true 2>/dev/null; then
    with_new_namespace=(unshare --user --map-root-user --net --)
    with_namespace_of=(nsenter --user --preserve-credentials --net --target)
  else
    fail "--once needs a network namespace, and cannot create one. It takes root (in a container" \
      "also CAP_SYS_ADMIN), or a kernel that lets users create namespaces."
  fi
fi

deploy/install-deps.sh build
configure=(cmake --preset release)
# tests/run.sh builds in the same directory, with tests. Once it did, they stay.
if ! grep -qs '^BUILD_TESTING:BOOL=ON' build/release/CMakeCache.txt; then
  configure+=(-DBUILD_TESTING=OFF)
fi
"${configure[@]}" >&2
cmake --build build/release --target linkvaned linkvane >&2

scratch=$(mktemp -d)
started=() # process ids

# Ends a process that this script started, if it still runs.
stop() {
  local pid=$1 deadline=$((SECONDS + patience_seconds))
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do
    if ((SECONDS >= deadline)); then kill -KILL "$pid" 2>/dev/null || true; fi
    sleep 0.05
  done
}

cleanup() {
  local pid
  for pid in "${started[@]}"; do stop "$pid"; done
  rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start_server NAME [COMMAND...]: starts a server, as the argument of COMMAND if there is one, and
# waits until it answers. Sets server_pid; its socket is $scratch/NAME.sock, its log NAME.log.
start_server() {
  local name=$1 deadline=$((SECONDS + patience_seconds))
  shift
  "$@" "$linkvaned" --listen="unix:$scratch/$name.sock" >"$scratch/$name.log" 2>&1 &
  server_pid=$!
  started+=("$server_pid")
  until timeout 2 "$linkvane" --server="unix:$scratch/$name.sock" info >/dev/null 2>&1; do
    if ! kill -0 "$server_pid" 2>/dev/null; then
      cat "$scratch/$name.log" >&2
      fail "linkvaned ended before it answered; above is what it said"
    fi
    if ((SECONDS >= deadline)); then
      cat "$scratch/$name.log" >&2
      fail "linkvaned does not answer after $patience_seconds s; above is what it said"
    fi
    sleep 0.05
  done
}

start_server host
for listing in interfaces addrs; do
  echo "\$ linkvane $listing"
  "$linkvane" --server="unix:$scratch/host.sock" "$listing"
  echo
done

if ! $once; then
  echo "\$ linkvane watch    (Ctrl-C ends it)"
  trap 'exit 0' INT
  # In the background, so that a signal is not kept waiting until the watch ends.
  "$linkvane" --server="unix:$scratch/host.sock" watch &
  started+=($!)
  status=0
  wait $! || status=$?
  cat "$scratch/host.log" >&2
  fail "linkvane watch ended with status $status; above is what the server said"
fi

start_server namespace "${with_new_namespace[@]}"
readonly namespace=/proc/$server_pid/ns/net
if [[ $(readlink "$namespace") == $(readlink /proc/self/ns/net) ]]; then
  fail "the second server is in the host's namespace; nothing was changed"
fi

readonly watched=$scratch/watch.out
printed=0 # lines of it

echo "\$ linkvane watch    (in a network namespace of its own)"
"$linkvane" --server="unix:$scratch/namespace.sock" watch >"$watched" 2>&1 &
watch_pid=$!
started+=("$watch_pid")

# Waits until one of the lines that were not printed yet has the words of each of the arguments.
await() {
  local words deadline=$((SECONDS + patience_seconds))
  for words in "$@"; do
    # Whole lines only: the last one may still be in the making.
    until sed -n "$((printed + 1)),$(wc -l <"$watched")p" "$watched" | awk -v words="$words" '
        BEGIN { wanted = split(words, word, " ") }
        { found = 0; for (i in word) if (index($0, word[i])) ++found }
        found == wanted { seen = 1 }
        END { exit !seen }'; do
      if ((SECONDS >= deadline)) || ! kill -0 "$watch_pid" 2>/dev/null; then
        cat "$watched" "$scratch/namespace.log" >&2
        fail "linkvane watch did not show '$words'; above is what it and the server said"
      fi
      sleep 0.02
    done
  done
}

print_new() {
  local lines
  lines=$(wc -l <"$watched")
  if ((lines > printed)); then sed -n "$((printed + 1)),${lines}p" "$watched"; fi
  printed=$lines
}

# change WORDS... -- COMMAND...: makes a change in the namespace, and shows what the watch says.
change() {
  local expected=()
  while [[ $1 != -- ]]; do
    expected+=("$1")
    shift
  done
  shift
  echo "# $*"
  "${with_namespace_of[@]}" "$server_pid" -- "$@" || fail "'$*' failed in the namespace"
  await "${expected[@]}"
  print_new
}

await lo
print_new
change 'MODIFIED lo' -- ip link set lo up
change 'ADDED demo0' 'ADDED demo1' -- ip link add demo0 type veth peer name demo1
change 'ADDED 192.0.2.1' -- ip addr add 192.0.2.1/24 dev demo0
change 'MODIFIED demo2' -- ip link set demo0 name demo2
change 'MODIFIED demo2' -- ip link set demo2 up
change 'REMOVED demo2' 'REMOVED demo1' -- ip link del demo2
echo
echo "run.sh: linkvane watch saw all of these changes."
