// Sums the results that Vitest wrote as JSON: `node scripts/count-tests.mjs FILE...` prints "N passed, N failed".
// A test file that could not even be loaded counts as one failure, and so does a report that is not there.
// `--of TEST_FILE` counts that file alone, and fails unless tests of it ran and all of them passed.
import { readFileSync } from "node:fs";

const args = process.argv.slice(2);
const only = args[0] === "--of" ? args[1] : null;
const sum = { passed: 0, failed: 0, skipped: 0 };
for (const file of only === null ? args : args.slice(2)) {
  try {
    const { testResults } = JSON.parse(readFileSync(file, "utf8"));
    for (const result of testResults) if (only === null || result.name.endsWith(`/${only}`)) count(result);
  } catch {
    sum.failed += 1;
  }
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
if (only !== null && (sum.failed > 0 || sum.passed === 0)) process.exitCode = 1;

function count({ status, assertionResults }) {
  const failed = assertionResults.filter((result) => result.status === "failed").length;
  const passed = assertionResults.filter((result) => result.status === "passed").length;
  sum.passed += passed;
  sum.failed += status === "failed" && failed === 0 ? 1 : failed;
  sum.skipped += assertionResults.length - passed - failed;
}
