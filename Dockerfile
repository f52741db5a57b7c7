# Images of Hopwright, by target: app (server, workers, deploying), gpu (app and vLLM), label-studio, sparql.
# Everything runs as the user hopwright (1000), and all data is written to /data.
ARG PYTHON=python:3.11.14-slim-bookworm

FROM ${PYTHON} AS base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN groupadd --gid 1000 hopwright \
    && useradd --uid 1000 --gid 1000 --create-home hopwright \
    && install --directory --owner=1000 --group=1000 /app /data

# --- packages; rebuilt only when the pins change ----------------------------------------------------------------------
FROM base AS packages
RUN python -m venv /opt/venv
COPY pyproject.toml constraints.txt README.md /app/
RUN mkdir -p /app/hopwright /app/flows /app/tasks /app/annotation \
    && touch /app/hopwright/__init__.py /app/flows/__init__.py /app/tasks/__init__.py /app/annotation/__init__.py \
    && /opt/venv/bin/pip install --editable /app --constraint /app/constraints.txt

FROM base AS vllm-packages
COPY requirements/vllm.txt /tmp/vllm.txt
RUN python -m venv /app/.venvs/vllm && /app/.venvs/vllm/bin/pip install --requirement /tmp/vllm.txt

FROM base AS label-studio-packages
COPY requirements/label-studio.txt /tmp/label-studio.txt
RUN python -m venv /opt/label-studio && /opt/label-studio/bin/pip install --requirement /tmp/label-studio.txt

# --- images that run --------------------------------------------------------------------------------------------------
FROM base AS app
RUN apt-get update \
    && apt-get install --yes --no-install-recommends apertium apertium-eng-spa \
    && rm -rf /var/lib/apt/lists/*
COPY --from=packages /opt/venv /opt/venv
# The environment refers to /app, so a change of the code does not rebuild it.
COPY --chown=1000:1000 . /app
ENV PATH=/opt/venv/bin:$PATH HOPWRIGHT_HOME=/data PREFECT_HOME=/data/prefect \
    PREFECT_SERVER_ANALYTICS_ENABLED=false DO_NOT_TRACK=1
WORKDIR /app
USER hopwright
CMD ["hopwright", "doctor"]

FROM app AS gpu
COPY --from=vllm-packages --chown=1000:1000 /app/.venvs/vllm /app/.venvs/vllm
ENV HF_HOME=/data/huggingface HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1

FROM base AS label-studio
COPY --from=label-studio-packages /opt/label-studio /opt/label-studio
ENV PATH=/opt/label-studio/bin:$PATH LABEL_STUDIO_BASE_DATA_DIR=/data
WORKDIR /data
USER hopwright
CMD ["label-studio", "start", "--no-browser", "--internal-host", "0.0.0.0", "--port", "8080"]

FROM base AS sparql
RUN pip install oxigraph==0.5.13
WORKDIR /data
USER hopwright
CMD ["oxigraph", "serve", "--location", "/data", "--bind", "0.0.0.0:7878"]
