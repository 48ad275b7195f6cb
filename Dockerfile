# syntax=docker/dockerfile:1
# The one place of the base. A release names it with its digest (RELEASING.md).
ARG BASE=python:3.13-slim-bookworm
FROM ${BASE} AS build
WORKDIR /opt/opengui
COPY requirements.lock pyproject.toml README.md LICENSE THIRD_PARTY_NOTICES.md ./
COPY extras ./extras
# With every extra: an image that is made is not added to.
RUN python -m venv /opt/venv \
    && for lock in requirements.lock extras/*.lock; do \
        /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r "$lock" || exit 1; \
    done
COPY bot ./bot
COPY agent ./agent
COPY devices ./devices
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${BASE}
# Bubblewrap is for the workshop's rooms. The adb that comes with adbutils runs on amd64 only.
# hadolint ignore=DL3008,SC2046
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap $([ "$(dpkg --print-architecture)" = amd64 ] || echo adb) \
    && rm -rf /var/lib/apt/lists/*
# `plugdev` may open phones on USB where the host's udev rule gives them to that group.
RUN useradd --create-home --uid 10001 --groups plugdev opengui \
    && install -d -o opengui -g opengui -m 700 /data /home/opengui/.android /run/opengui-workshop
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/data \
    CONSOLE_HOST=127.0.0.1 \
    CONSOLE_PORT=8765
USER 10001
WORKDIR /home/opengui
VOLUME /data
# From inside: the console listens on the container's own loopback.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + (os.environ['CONSOLE_PORT'] or '8765') + '/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["opengui"]
CMD ["run"]
