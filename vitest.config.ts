import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { readCoverage } from "./test/support/coverage-rows.js";
import { sortTests } from "./test/support/fast-or-slow.js";

const { fast, slow } = sortTests(import.meta.dirname);
/** A test that shows a requirement has its id as a tag: `npx vitest run test/conformance --tags-filter V44`. */
const requirements = readCoverage(readFileSync(join(import.meta.dirname, "docs/coverage.md"), "utf8"));
const CORES = availableParallelism();
/** Slow tests wait for processes more than they compute, so that more of them than cores run at once. */
const SLOW_WORKERS = Number(process.env.TEST_WORKERS ?? CORES + 3);

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    tags: requirements.map(({ id }) => ({ name: id })),
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: [...fast],
          setupFiles: ["test/support/fixed-seed.ts", "test/support/start-nothing.ts"],
          // Loading the modules costs more than the tests: each worker keeps them from file to file.
          pool: "threads",
          isolate: false,
          maxWorkers: CORES,
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: SLOW_WORKERS,
          sequence: { groupOrder: 1 },
          include: [...slow],
          setupFiles: ["test/support/fixed-seed.ts", "test/support/end-processes.ts"],
          globalSetup: ["test/support/build-once.ts", "test/support/embedded-postgres.ts"],
        },
      },
    ],
  },
});
