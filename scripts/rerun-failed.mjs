// `node scripts/rerun-failed.mjs REPORT LIST`: runs the files in which tests failed once more, one at a time and with
// nothing beside them, and writes into LIST the tests that pass only then. Those are unsteady: they count as passed in
// REPORT, because they say nothing about the change at hand, and are named at the end of the gate until somebody mends
// them. Many failures, or an error outside of any test, are not tried again: those are no coincidence.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const MOST_FILES = 3;

const [reportFile, listFile] = process.argv.slice(2);
const report = JSON.parse(readFileSync(reportFile, "utf8"));
const failed = report.testResults.filter(({ status }) => status === "failed");
if (failed.length === 0 || failed.length > MOST_FILES) {
  console.log(`not run again: ${failed.length} files with failed tests (1 to ${MOST_FILES} are)`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "daruma-rerun-"));
try {
  const again = join(folder, "report.json");
  const files = failed.map(({ name }) => relative(process.cwd(), name));
  console.log(`\nrunning again, each by itself: ${files.join(" ")}`);
  const reporters = ["./scripts/list-failures.mjs", "default", "json"].map((name) => `--reporter=${name}`);
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...files, ...reporters, `--outputFile.json=${again}`],
    { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, TEST_WORKERS: "1" } },
  );
  const second = new Map(
    JSON.parse(readFileSync(again, "utf8")).testResults.map((result) => [result.name, result]),
  );
  report.testResults = report.testResults.map((result) => second.get(result.name) ?? result);
  writeFileSync(reportFile, JSON.stringify(report));
  const unsteady = failed.filter(({ name }) => second.get(name)?.status === "passed");
  const names = unsteady.flatMap(({ name, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    const file = relative(process.cwd(), name);
    return tests.length === 0 ? [file] : tests.map(({ fullName }) => `${file} > ${fullName}`);
  });
  writeFileSync(listFile, names.map((name) => `UNSTEADY ${name}\n`).join(""));
  process.exitCode = status === 0 && unsteady.length === failed.length ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
