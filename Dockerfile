# discreet with every extra but Spark, Ibis and Studio: docker build --tag discreet .
# Runs as a user without rights, and with --read-only --tmpfs /tmp; see docs/python.md.
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
COPY requirements ./requirements
RUN python -m venv /opt/discreet \
 && /opt/discreet/bin/pip install --no-cache-dir --constraint requirements/development.txt \
    ".[duckdb,excel,fast,icd,learning,linkage,pandas,parquet,postgres,sign,stats,zstd]"
ENV NUMBA_CACHE_DIR=/opt/discreet/kernels
RUN /opt/discreet/bin/discreet warm-up \
 && chmod -R a+rX /opt/discreet

FROM python:3.11-slim
COPY --from=build /opt/discreet /opt/discreet
ENV PATH=/opt/discreet/bin:$PATH \
    NUMBA_CACHE_DIR=/opt/discreet/kernels \
    PYTHONDONTWRITEBYTECODE=1
RUN useradd --no-create-home --uid 10001 discreet
USER 10001
WORKDIR /data
ENTRYPOINT ["discreet"]
CMD ["--help"]
