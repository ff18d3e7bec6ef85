import type { KnipConfig } from "knip";

const config: KnipConfig = {
  entry: [
    "src/index.ts",
    "src/flow/testing/test-flow.ts",
    "src/cli/main.ts",
    "src/cli/command-line.ts",
    "src/**/*-thread.ts",
    "scripts/*.mjs",
    "web/src/main.tsx",
    "web/src/report/main.tsx",
    "test/fixtures/leaks/*",
    "test/sim/seeds-process.ts",
    "bench/*.mjs",
    "bench/postgres/*.mjs",
  ],
  project: [
    "src/**/*.ts",
    "web/src/**/*.{ts,tsx}",
    "test/**/*.ts",
    "scripts/**/*.mjs",
    "bench/*.mjs",
    "bench/postgres/*.mjs",
  ],
  // Types of the ports and of events are for library users and for the next store, action or interface.
  ignoreExportsUsedInFile: true,
  // The benchmark installs its peers for itself; axe runs inside the browser, from its file.
  ignoreDependencies: ["@dbos-inc/dbos-sdk", "openworkflow", "axe-core"],
  // Of the system: tests fill a small file system of their own, make a pipe, run as nobody, close a terminal and sign a certificate.
  ignoreBinaries: ["xmllint", "mount", "umount", "mkfifo", "setpriv", "script", "su", "openssl"],
};

export default config;
