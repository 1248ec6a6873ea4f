# What the scripts beside this one share: the engine's programs, and words for people.
# shellcheck shell=bash

say() {
    printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*"
}

skip() {
    echo "skipped: $*"
    exit 0
}

# A client that can build with BuildKit: one before 23 brings it along, a later one needs buildx.
find_docker() {
    local candidate
    for candidate in docker /usr/bin/docker /usr/local/bin/docker; do
        candidate="$(command -v "$candidate")" || continue
        if "$candidate" buildx version >/dev/null 2>&1 ||
            [[ "$("$candidate" --version)" =~ version\ (1[89]|2[0-2])\. ]]; then
            echo "$candidate"
            return
        fi
    done
}

docker="$(find_docker)"
[[ -n $docker ]] || skip "no container engine: no docker client that builds with BuildKit"
"$docker" info >/dev/null 2>&1 || skip "no container engine: none answers"
export DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1
# docker-compose calls the client by its name.
PATH="$(dirname "$docker"):$PATH"

# shellcheck disable=SC2034 # run.sh uses it
if "$docker" compose version >/dev/null 2>&1; then
    compose=("$docker" compose)
elif command -v docker-compose >/dev/null; then
    compose=(docker-compose)
else
    skip "no container engine: docker compose is not installed"
fi
