# One image for api and worker: compiled in a first stage together with the console, run without compiler, sources or root rights.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY console/package.json console/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY config config
COPY src src
COPY bin bin
COPY console console
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
# docker build --build-arg COMMIT=$(git rev-parse --short=12 HEAD) .
ARG COMMIT=
LABEL org.opencontainers.image.revision=$COMMIT
ENV NODE_ENV=production STORAGE_ROOT=/app/storage
WORKDIR /app
# Mount points of volumes: a fresh named volume takes over their owner.
RUN install -d -m 0700 -o node -g node storage .local
COPY package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/build build
# /healthz says version and commit; the service reads the commit from here, as in a release of deploy/release.mjs.
RUN echo "{\"commit\":\"$COMMIT\"}" > release.json
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Exec form: node is process 1 and gets SIGTERM itself, without a shell in between.
CMD ["node", "build/src/api/main.js"]
