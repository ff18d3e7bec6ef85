// Sums the results that Vitest wrote as JSON: `node scripts/count-tests.mjs FILE...` prints "N passed, N failed".
// A test file that could not even be loaded counts as one failure, and so does a report that is not there.
// `--of TEST_FILE` counts that file alone, and fails unless tests of it ran and all of them passed.
// `--skipped` prints, for each file, how many of its tests were skipped, and the reason if the name of their suite has it.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const args = process.argv.slice(2);
const tellsSkipped = args[0] === "--skipped";
const only = args[0] === "--of" ? args[1] : null;
const sum = { passed: 0, failed: 0, skipped: 0 };
const skippedOf = new Map();
for (const file of tellsSkipped ? args.slice(1) : only === null ? args : args.slice(2)) {
  try {
    const { testResults } = JSON.parse(readFileSync(file, "utf8"));
    for (const result of testResults) if (only === null || result.name.endsWith(`/${only}`)) count(result);
  } catch {
    sum.failed += 1;
  }
}
if (tellsSkipped) {
  for (const [what, number] of skippedOf)
    console.log(`skipped ${number} ${number === 1 ? "test" : "tests"} of ${what}`);
} else
  console.log(
    `${sum.passed} passed, ${sum.failed} failed${sum.skipped > 0 ? `, ${sum.skipped} skipped` : ""}`,
  );
if (only !== null && (sum.failed > 0 || sum.passed === 0)) process.exitCode = 1;

function count({ name, status, assertionResults }) {
  const failed = assertionResults.filter((result) => result.status === "failed").length;
  const passed = assertionResults.filter((result) => result.status === "passed").length;
  sum.passed += passed;
  sum.failed += status === "failed" && failed === 0 ? 1 : failed;
  sum.skipped += assertionResults.length - passed - failed;
  for (const { status, fullName } of assertionResults) {
    if (status === "failed" || status === "passed") continue;
    const reason = /\(skipped: [^)]*\)/.exec(fullName)?.[0];
    const what = `${relative(process.cwd(), name)}${reason === undefined ? "" : ` ${reason}`}`;
    skippedOf.set(what, (skippedOf.get(what) ?? 0) + 1);
  }
}
