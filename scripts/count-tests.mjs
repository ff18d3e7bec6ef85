// Sums the results that Vitest wrote as JSON: `node scripts/count-tests.mjs FILE...` prints "N passed, N failed".
// A test file that could not even be loaded counts as one failure, and so does a report that is not there.
import { readFileSync } from "node:fs";

const sum = { passed: 0, failed: 0, skipped: 0 };
for (const file of process.argv.slice(2)) {
  try {
    const report = JSON.parse(readFileSync(file, "utf8"));
    sum.passed += report.numPassedTests;
    sum.failed += report.numFailedTests;
    sum.skipped += report.numPendingTests + report.numTodoTests;
    for (const { status, assertionResults } of report.testResults) {
      const failedInside = assertionResults.some((result) => result.status === "failed");
      if (status === "failed" && !failedInside) sum.failed += 1;
    }
  } catch {
    sum.failed += 1;
  }
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
