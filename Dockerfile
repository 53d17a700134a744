# A worker: `etl worker` over the pipelines in /app/pipelines, whose files are below /app.
#
#   docker build --tag sluice-worker .
#   docker run --rm --env DATABASE_URL --volume ./pipelines:/app/pipelines:ro --volume ./data:/app/data:ro sluice-worker
#
# The entry is `etl` itself: `docker run … sluice-worker run pipelines/noaa.ts` runs one pipeline.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY src src
COPY docs/reference/errors.md docs/reference/
# Nothing here needs an install script; what only development needs, the embedded server for one, is left out.
RUN npm ci --ignore-scripts && npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
# Beside the pipelines, so that they find `zod` and the like where they look for it.
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# The page shows what an error code means.
COPY --from=build /app/docs docs
COPY --from=build /app/src/cli/etl.mjs src/cli/etl.mjs
# By number: Kubernetes cannot tell from a name that it is not root. Everything above belongs to root.
USER 1000:1000
ENTRYPOINT ["node", "/app/src/cli/etl.mjs"]
CMD ["worker", "--pipelines", "pipelines"]
