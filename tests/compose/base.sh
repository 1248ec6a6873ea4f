#!/usr/bin/env bash
# Makes the base images of the Dockerfile where they cannot be pulled: from Debian's packages, and
# for the one with a compiler from the Rust toolchain of this machine. Only for tests.
# usage: base.sh [slim] [rust]     (both when none is named)
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source-path=SCRIPTDIR
source ./common.sh

slim=debian:bookworm-slim
rust=rust:1.95-bookworm

has() {
    "$docker" image inspect "$1" >/dev/null 2>&1
}

# As root in a folder of its own; needs the network.
bootstrap() {
    command -v mmdebstrap >/dev/null || skip "no image $1, and no mmdebstrap to make it"
    say "making $1 of Debian's packages"
    rm -rf "$2"
    mmdebstrap --quiet --variant=minbase "${@:3}" bookworm "$2"
    # Certificates that this machine trusts, for a build behind a proxy that has its own.
    mkdir -p "$2/usr/local/share"
    cp -R /usr/local/share/ca-certificates "$2/usr/local/share/"
    if [[ -x $2/usr/sbin/update-ca-certificates ]]; then
        chroot "$2" update-ca-certificates >/dev/null 2>&1
    fi
}

make_slim() {
    bootstrap $slim "$scratch/slim"
    tar -C "$scratch/slim" -c . | "$docker" import - $slim >/dev/null
}

make_rust() {
    bootstrap $rust "$scratch/rust" --include=build-essential,ca-certificates,pkg-config
    local toolchain
    toolchain="$(rustc --print sysroot)"
    cp -R "$toolchain/bin" "$toolchain/lib" "$scratch/rust/usr/local/"
    tar -C "$scratch/rust" -c . |
        "$docker" import -c 'ENV CARGO_HOME=/usr/local/cargo' - $rust >/dev/null
}

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
wanted=("$@")
((${#wanted[@]})) || wanted=(slim rust)
for name in "${wanted[@]}"; do
    image="${!name}"
    if has "$image"; then
        say "$image is there"
    else
        "make_$name"
    fi
done
