import { defineConfig } from "vitest/config";
import { sortTests } from "./test/support/fast-or-slow.js";

const { fast, slow } = sortTests(import.meta.dirname);
/** Slow tests wait for processes more than they compute, so that more of them than cores run at once. */
const WORKERS = Number(process.env.TEST_WORKERS ?? 3);

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
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
