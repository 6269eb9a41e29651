# The double of the TRTMC runtime and a bundle for it, made for the image that loads them. For test.sh alone.
# Build: docker build -f deploy/compose/trtmc-double.Dockerfile native/tests/trtmc_double
ARG RUST_IMAGE=rust:1-bookworm
FROM $RUST_IMAGE
RUN apt-get update && apt-get install -y --no-install-recommends g++ nlohmann-json3-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /double
COPY . .
RUN mkdir runtime && \
    g++ -std=c++20 -fPIC -shared -fvisibility=hidden -Wl,-soname,libtrtmc_c.so.1 -Iinclude -o runtime/libtrtmc_c.so.1 \
      bundle.cpp entry.cpp fault.cpp scoring.cpp settings.cpp tasks.cpp && \
    g++ -std=c++20 -o make-bundle make_bundle.cpp bundle_file.cpp && ./make-bundle model.trtmc
