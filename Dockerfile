# Two images:
#   docker build -t onbeat .                          the program alone
#   docker build -t onbeat:scenarios --target scenarios .   with the compiler, for load that is written in C++
#   docker run --rm --network host onbeat http http://127.0.0.1:8080/

FROM debian:12 AS build
WORKDIR /source
COPY tools/install_packages.sh tools/
RUN tools/install_packages.sh build && apt-get install -y --no-install-recommends dpkg-dev file && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cmake --preset release -DONBEAT_TESTS=OFF \
    && cmake --build --preset release --target onbeat onbeat_kernel onbeat_extras \
    && cpack -G DEB --config build/release/CPackConfig.cmake -B /packages

FROM debian:12-slim AS program
COPY --from=build /packages/*.deb /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates /tmp/*.deb \
    && rm -rf /tmp/*.deb /var/lib/apt/lists/* \
    && useradd --create-home onbeat
USER onbeat
WORKDIR /home/onbeat
ENTRYPOINT ["onbeat"]
CMD ["--help"]

FROM program AS scenarios
USER root
RUN apt-get update \
    && apt-get install -y --no-install-recommends clang-19 lld-19 libstdc++-12-dev \
    && rm -rf /var/lib/apt/lists/*
USER onbeat

# What is built when no target is named.
FROM program AS onbeat
