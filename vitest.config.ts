import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { readCoverage } from "./test/support/coverage-rows.js";
import { sortTests } from "./test/support/fast-or-slow.js";

const { fast, slow } = sortTests(import.meta.dirname);
/** A test that shows a requirement has its id as a tag: `npx vitest run test/conformance --tags-filter V44`. */
const requirements = readCoverage(readFileSync(join(import.meta.dirname, "docs/coverage.md"), "utf8"));
/** Slow tests wait for processes more than they compute, so that more of them than cores run at once. */
const WORKERS = Number(process.env.TEST_WORKERS ?? 3);

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    tags: requirements.map(({ id }) => ({ name: id })),
    maxWorkers: WORKERS,
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: [...fast],
          setupFiles: ["test/support/start-nothing.ts"],
          // Loading the modules costs more than the tests: each worker keeps them from file to file.
          pool: "threads",
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: [...slow],
          globalSetup: ["test/support/build-once.ts", "test/support/embedded-postgres.ts"],
        },
      },
    ],
  },
});
