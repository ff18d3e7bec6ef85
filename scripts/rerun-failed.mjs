// `node scripts/rerun-failed.mjs REPORT`: runs the files in which tests failed once more, one at a time and with nothing
// beside them, and puts what came of it into REPORT. What passes only then is listed: it is right and depends on how
// busy the machine is. Many failures, or an error outside of any test, are not tried again: those are no coincidence.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const MOST_FILES = 8;

const [reportFile] = process.argv.slice(2);
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
  for (const name of names) console.log(`UNSTEADY ${name}: failed beside other tests, passed by itself`);
  process.exitCode = status === 0 && unsteady.length === failed.length ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
