#!/usr/bin/env bash
# A container engine of the tests' own, where none runs: as root, with Debian's docker.io.
#   eval "$(tests/compose/engine.sh start)"    starts one and sets DOCKER_HOST, or says why not
#   tests/compose/engine.sh stop               ends the one that was started
set -euo pipefail

root="$(cd "$(dirname "$0")/../.." && pwd)"
store="$root/target/engine"
# Addresses of sockets are short, so they lie outside the store.
run="/tmp/ibid-engine"
socket="unix://$run/docker.sock"

start() {
    if docker info >/dev/null 2>&1; then
        return
    fi
    if [[ $(id -u) != 0 ]] || ! command -v dockerd >/dev/null; then
        echo "no container engine runs, and none can be started here" >&2
        return
    fi
    mkdir -p "$store" "$run"
    dockerd --data-root "$store" --exec-root "$run/exec" --pidfile "$run/dockerd.pid" \
        --host "$socket" >"$run/dockerd.log" 2>&1 </dev/null &
    for _ in $(seq 150); do
        if DOCKER_HOST="$socket" docker info >/dev/null 2>&1; then
            echo "export DOCKER_HOST=$socket"
            return
        fi
        sleep 0.2
    done
    echo "the container engine did not start: $(tail -n 1 "$run/dockerd.log")" >&2
    stop
}

stop() {
    local pid
    pid="$(cat "$run/dockerd.pid" 2>/dev/null)" || return 0
    kill "$pid" 2>/dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.2
    done
}

case "${1:-}" in
    start) start ;;
    stop) stop ;;
    *)
        echo "usage: engine.sh start | stop" >&2
        exit 64
        ;;
esac
