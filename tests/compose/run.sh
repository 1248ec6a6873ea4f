#!/usr/bin/env bash
# Ibid on a real container engine: build, up, add, ask, kill, still right, down. The image is made of
# a program that is built already (IBID_BIN) and the parts it runs on (IBID_ASSETS); everything else
# is what a user gets. Says PASS, FAIL, or what is missing; the exit code is 0 unless it failed.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source-path=SCRIPTDIR
source ./common.sh
cd ../..
root="$PWD"

program="${IBID_BIN:-$root/target/debug/ibid}"
assets="${IBID_ASSETS:-$HOME/.cache/ibid}"
[[ -x $program ]] || skip "no built \`ibid\`; run \`cargo build -p ibid\`, or set IBID_BIN"
[[ -x $assets/nats-server/nats-server ]] || skip "no runtime parts; run \`ibid setup\`"
based() {
    "$docker" image inspect debian:bookworm-slim >/dev/null 2>&1
}
based || tests/compose/base.sh slim || true
based || skip "no base image; run tests/compose/base.sh with the network"

project="ibid-test-$$"
work="$(mktemp -d)"
chmod 755 "$work"
export IBID_IMAGE="ibid-test:$$" IBID_TARGET=runtime-prebuilt
# A port that others seldom have; the engine says so when one does.
export IBID_PORT="${IBID_PORT:-$((20000 + RANDOM % 10000))}"
services=(gateway query parser chunker embedder indexer nats)
scale=(--scale parser=2 --scale embedder=2)
count=$((${#services[@]} + 2))
# A server that does not belong to the project, while there is one.
elsewhere=""

compose() {
    "${compose[@]}" --project-name "$project" --file compose.yaml \
        --file tests/compose/extractive.yaml "$@"
}

# Runs it with its output kept, and says what is run.
quietly() {
    say "\$ docker compose $*"
    compose "$@" >>"$work/compose.log" 2>&1
}

finish() {
    local code=$?
    trap - EXIT
    if ((code)); then
        tail -n 20 "$work/compose.log" || true
        compose logs --no-color --tail 15 || true
        compose ps || true
    fi
    [[ -z $elsewhere ]] || "$docker" rm --force "$elsewhere" >/dev/null 2>&1 || true
    compose down --volumes --timeout 40 >>"$work/compose.log" 2>&1 || true
    "$docker" image rm "$IBID_IMAGE" >/dev/null 2>&1 || true
    rm -rf "$work" "$root/target/compose"
    if ((code)); then
        say "FAIL"
    fi
    exit "$code"
}
trap finish EXIT

fail() {
    say "not so: $*"
    exit 1
}

# `until_true SECONDS WHAT COMMAND…`: waits until the command succeeds.
until_true() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < end)) || fail "$what"
        sleep 0.3
    done
    say "$what"
}

# `containers SERVICE`: their ids, also of those that have ended; all when no service is named.
containers() {
    "$docker" ps --all --quiet --filter "label=com.docker.compose.project=$project" \
        ${1:+--filter "label=com.docker.compose.service=$1"}
}

inspect() {
    "$docker" inspect --format "$@"
}

healthy() {
    local ids good
    mapfile -t ids < <(containers)
    ((${#ids[@]} == $1)) || return 1
    good="$(inspect '{{.State.Health.Status}}' "${ids[@]}" | grep -c '^healthy$')" || true
    ((good == $1))
}

# The program as on the host, outside all networks of the project.
client() {
    "$docker" run --rm --network host --read-only --env NO_COLOR=1 \
        --env "IBID_URL=http://127.0.0.1:$IBID_PORT" --env "IBID_TOKEN=$token" \
        --volume "$root/samples:/samples:ro" --volume "$work/more:/more:ro" "$IBID_IMAGE" "$@"
}

# `asks QUESTION PHRASE PLACE`: the answer has the phrase and cites the place.
asks() {
    local answer
    answer="$(client ask "$1")" || fail "ask: $1"
    [[ $answer == *"$2"* ]] || fail "the answer to \"$1\" lacks \"$2\": $answer"
    [[ $answer == *"$3"* ]] || fail "the answer to \"$1\" does not cite \"$3\": $answer"
    say "asked: $1 → \"…$2…\" [$3]"
}

still_right() {
    asks "What is the mileage rate for a private car?" "45 pence a mile" "staff-handbook.pdf, p.4"
    asks "What does error code E23 mean?" "High pressure switch open" "kl-40-service-manual.pdf, p.2 (3)"
    asks "How wide is the cellar door at the bakery?" "88 cm wide" "mill-road-bakery.md"
}

# Ends the first process of a container as a crash would, so that the engine starts it again.
crash() {
    local pid
    pid="$(inspect '{{.State.Pid}}' "$1")"
    "$docker" run --rm --pid host --user 0 --entrypoint sh "$IBID_IMAGE" -c "kill -9 $pid"
}

restarted() {
    (($(inspect '{{.RestartCount}}' "$1") > 0)) && [[ $(inspect '{{.State.Status}}' "$1") == running ]]
}

say "engine $("$docker" version --format '{{.Server.Version}}'), compose $("${compose[@]}" version --short)"

# --- build -------------------------------------------------------------------------------------
mkdir -p target/compose/assets "$work/more"
cp "$program" target/compose/ibid
for part in nats-server onnxruntime pdfium models; do
    cp -R "$assets/$part" target/compose/assets/
done
say "\$ docker build --target $IBID_TARGET"
"$docker" build --quiet --target "$IBID_TARGET" --tag "$IBID_IMAGE" . >>"$work/compose.log" 2>&1
say "the image runs as user $(inspect '{{.Config.User}}' "$IBID_IMAGE")"

# --- a data folder of someone else ---------------------------------------------------------------
if told="$("$docker" run --rm --read-only --tmpfs /data:mode=0755 "$IBID_IMAGE" service parser 2>&1)"; then
    fail "a service started on a data folder that it cannot write"
fi
[[ $told == *"user 10001:10001 cannot write the data folder \`/data\`"* && $told == *chown* ]] ||
    fail "no clear word on a data folder that cannot be written: $told"
say "refused: ${told##*$'\n'}"

# --- up, in any order ----------------------------------------------------------------------------
quietly up --detach --no-deps --no-build indexer query
quietly stop query
ended="$(inspect '{{.State.ExitCode}} {{.State.OOMKilled}}' "$(containers query)")"
[[ $ended == "0 false" ]] || fail "query, which waited for the bus, ended with: $ended"
say "told to stop while it waits for the bus, query ends with code 0"
quietly up --detach --no-build "${scale[@]}"
until_true 150 "all $count containers are healthy" healthy "$count"

# --- what can be reached -------------------------------------------------------------------------
mapfile -t ids < <(containers)
open="$("$docker" ps --filter "label=com.docker.compose.project=$project" --format '{{.Ports}}' |
    grep -e '->' || true)"
[[ $open == "127.0.0.1:$IBID_PORT->$IBID_PORT/tcp" ]] || fail "published is: $open"
say "published is $open, and nothing else"
# 0A is listening; the addresses are those of the engine's own machine.
port="$(printf '%04X' "$IBID_PORT")"
listens="$("$docker" run --rm --network host --entrypoint sh "$IBID_IMAGE" -c \
    "cat /proc/net/tcp /proc/net/tcp6" | awk -v p=":$port\$" '$4 == "0A" && $2 ~ p {print $2}')"
[[ $listens == "0100007F:$port" ]] || fail "the machine listens on: $listens"
say "the machine listens on 127.0.0.1:$IBID_PORT alone"
elsewhere="$("$docker" run --detach --rm --entrypoint /opt/ibid/assets/nats-server/nats-server \
    "$IBID_IMAGE" --addr 0.0.0.0)"
address="$(inspect '{{.NetworkSettings.IPAddress}}' "$elsewhere")/4222"
# `greeted COMMAND…`: whether a container that it starts, or enters, is greeted by that server.
greeted() {
    local read="read -r -t 2 word <>/dev/tcp/$address && echo \"\$word\""
    [[ $("$docker" "$@" -c "$read" 2>&1) == INFO* ]]
}
until_true 20 "a server elsewhere can be reached from a container of no project" \
    greeted run --rm --entrypoint bash "$IBID_IMAGE"
for service in parser chunker embedder indexer nats; do
    for id in $(containers "$service"); do
        ! greeted exec "$id" timeout 2 bash || fail "$service reaches a server elsewhere"
    done
done
say "parser, chunker, embedder, indexer and nats do not reach it"
"$docker" rm --force "$elsewhere" >/dev/null
# In the place of Ollama, at the machine's address on the engine's own network.
address="$("$docker" network inspect --format '{{(index .IPAM.Config 0).Gateway}}' bridge)"
elsewhere="$("$docker" run --detach --rm --network host \
    --entrypoint /opt/ibid/assets/nats-server/nats-server \
    "$IBID_IMAGE" --addr "$address" --port "$((IBID_PORT + 1))")"
address="host.docker.internal/$((IBID_PORT + 1))"
until_true 20 "query reaches a server on this machine as host.docker.internal" \
    greeted exec "$(containers query)" timeout 2 bash
"$docker" rm --force "$elsewhere" >/dev/null
for id in "${ids[@]}"; do
    state="$(inspect '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.Config.User}}' "$id")"
    [[ $state == "true [ALL] 10001:10001" ]] || fail "a container runs with: $state"
done
say "every container is read-only, without capabilities, and not root"
link="$(compose exec -T gateway ibid link)"
token="${link##*token=}"
[[ $link == "http://127.0.0.1:$IBID_PORT/#token="* ]] || fail "ibid link says: $link"
say "\$ docker compose exec gateway ibid link → http://127.0.0.1:$IBID_PORT/#token=…"
if token=wrong client list >>"$work/compose.log" 2>&1; then
    fail "a wrong token is answered"
fi
say "a wrong token is refused"

# --- add, ask ------------------------------------------------------------------------------------
client add /samples >>"$work/compose.log" 2>&1
ready() {
    [[ $(client list | grep -c ready) == "$1" ]]
}
samples="$(find samples -type f | wc -l)"
ready "$samples" || fail "not all samples are ready: $(client list)"
say "\$ ibid add samples → $samples documents ready"
still_right
if compose logs parser | grep -q "no system call filter"; then
    fail "the parser's children run without their system call filter"
fi
say "the parser's children run within their system call filter"

# --- kill while there is work ----------------------------------------------------------------------
shelves=40
for n in $(seq $shelves); do
    printf '# Shelf %s\n\nShelf %s of the Harrow store holds the part number %s.\n' \
        "$n" "$n" "$((7000 + n * 13))" >"$work/more/shelf-$n.md"
done
chmod -R a+rX "$work/more"
client add --no-wait /more >>"$work/compose.log" 2>&1
say "\$ docker kill parser"
"$docker" kill "$(containers parser | head -n 1)" >/dev/null
indexer="$(containers indexer)"
say "\$ kill -9 indexer"
crash "$indexer"
until_true 60 "the indexer was started again" restarted "$indexer"
embedder="$(containers embedder | head -n 1)"
say "\$ kill -9 embedder"
crash "$embedder"
until_true 60 "the embedder was started again" restarted "$embedder"
until_true 120 "all $((samples + shelves)) documents are ready" ready $((samples + shelves))
still_right
asks "Which part number does shelf 29 of the Harrow store hold?" "7377" "shelf-29.md"
client fsck >>"$work/compose.log" 2>&1 || fail "fsck: $(client fsck)"
say "\$ ibid fsck → all stores agree"
nats="$(containers nats)"
say "\$ kill -9 nats"
crash "$nats"
until_true 60 "nats was started again" restarted "$nats"
quietly up --detach --no-build "${scale[@]}"
until_true 120 "all $count containers are healthy again" healthy "$count"
still_right

# --- stop, start, down ---------------------------------------------------------------------------
quietly stop
for id in $(containers); do
    state="$(inspect '{{.State.ExitCode}} {{index .Config.Labels "com.docker.compose.service"}}' "$id")"
    [[ $state == "0 "* || $state == "1 nats" ]] || fail "ended with code: $state"
done
say "every service drained and ended with code 0"
quietly down
quietly up --detach --no-build "${scale[@]}"
until_true 150 "new containers on the same data are healthy" healthy "$count"
link="$(compose exec -T gateway ibid link)"
[[ ${link##*token=} == "$token" ]] || fail "the token is another than before"
still_right
quietly down --volumes
[[ -z $(containers) && -z $("$docker" volume ls --quiet --filter "name=$project") ]] ||
    fail "something is left after down --volumes"
say "nothing is left"
say "PASS"
