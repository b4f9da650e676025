# Builds freshet and leaves only the program behind.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock build.rs ./
COPY src src
COPY migrations migrations
COPY benches benches
RUN cargo build --profile dist --locked

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home freshet \
    && install --directory --owner=freshet /data
COPY --from=build /src/target/dist/freshet /usr/local/bin/freshet
USER freshet
WORKDIR /data
ENTRYPOINT ["freshet"]
CMD ["--help"]
