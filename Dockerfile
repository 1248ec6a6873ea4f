# One image for all containers of compose.yaml: the `ibid` program and the parts it runs on.
# It needs BuildKit (`DOCKER_BUILDKIT=1` with engines before 23).

# The program.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package ibid \
    && cp target/release/ibid /usr/local/bin/ibid

# The parts, each file checked against services/supervisor/assets.lock. What is fetched stays in the
# build's cache, so that a new program does not fetch it again. The models' sources are left out:
# only the imported models are run.
FROM debian:bookworm-slim AS parts
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-pip \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/ibid /usr/local/bin/ibid
RUN --mount=type=cache,target=/var/cache/ibid \
    IBID_ASSETS=/var/cache/ibid ibid setup \
    && mkdir -p /opt/ibid/assets \
    && cp -R /var/cache/ibid/. /opt/ibid/assets/ \
    && rm -rf /opt/ibid/assets/source

# What every container is: no package beyond the base, a user that owns only the data folder. A new
# volume takes the folder's owner and mode over.
FROM debian:bookworm-slim AS base
RUN groupadd --gid 10001 ibid \
    && useradd --uid 10001 --gid ibid --home-dir /data --no-create-home \
        --shell /usr/sbin/nologin ibid \
    && install --directory --owner ibid --group ibid --mode 0700 /data
ENV IBID_DATA=/data IBID_ASSETS=/opt/ibid/assets
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["ibid"]
CMD ["--help"]

# With a program and parts that lie in target/compose already: for tests/compose/run.sh.
FROM base AS runtime-prebuilt
COPY target/compose/assets /opt/ibid/assets
COPY target/compose/ibid /usr/local/bin/ibid

FROM base AS runtime
COPY --from=parts /opt/ibid/assets /opt/ibid/assets
COPY --from=build /usr/local/bin/ibid /usr/local/bin/ibid
