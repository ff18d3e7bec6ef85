import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { readCoverage } from "./test/support/coverage-rows.js";
import { sortTests } from "./test/support/fast-or-slow.js";
import { HANG_MS } from "./test/support/hang.js";

const { fast, slow, apart, long } = sortTests(import.meta.dirname);
/** A test that shows a requirement has its id as a tag: `npx vitest run test/conformance --tags-filter V44`. */
const requirements = readCoverage(readFileSync(join(import.meta.dirname, "docs/coverage.md"), "utf8"));
const CORES = availableParallelism();
/** Slow tests wait for processes more than they compute, so that more of them than cores run at once. */
const SLOW_WORKERS = Number(process.env.TEST_WORKERS ?? CORES + 3);
/** A test ends when what it waits for is there. What it waits for in vain is told before the test itself is ended. */
const TEST_MS = HANG_MS + 60_000;

const ofProcesses = {
  maxWorkers: SLOW_WORKERS,
  setupFiles: ["test/support/fixed-seed.ts", "test/support/end-processes.ts"],
  globalSetup: ["test/support/build-once.ts", "test/support/embedded-postgres.ts"],
};

export default defineConfig({
  test: {
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    expect: { poll: { timeout: HANG_MS } },
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
          include: [...slow],
          ...ofProcesses,
          // As above; what replaces a module is in `apart`, with modules of its own for each file.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: "apart", include: [...apart], ...ofProcesses, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: "long", include: [...long], ...ofProcesses, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
