import { describe, expect, it } from "vitest";
import { githubText } from "./github.js";
import { junitText } from "./junit.js";
import { markdownText } from "./markdown.js";
import type { ReportedJob, ReportedRun } from "./reported-run.js";

const HOSTILE =
  'a</failure><x a="1">]]>&\u0000\u001b[31mred\u001b[0m \ud800 `|` ```\n::set-output name=x::y\n| @team';

function job(name: string, changes: Partial<ReportedJob> = {}): ReportedJob {
  return {
    name,
    status: "completed",
    handled: false,
    handledBy: null,
    below: null,
    decided: null,
    isStrictFailure: false,
    takenOver: false,
    error: null,
    skippedBy: null,
    printed: "",
    attempts: 1,
    durationMs: 1_500,
    hasPassed: true,
    earlierFailures: [],
    ...changes,
  };
}

function reported(jobs: readonly ReportedJob[], changes: object = {}): ReportedRun {
  const report = {
    run_id: 7,
    workflow: "ci",
    status: "failed",
    interrupted: false,
    strict: false,
    labels: { branch: "main" },
    routes: [],
    handled_failures: [],
    skipped_by_failure: [],
    decided: [],
    handled_in_children: [],
    held_below: [],
    error: null,
    created_at: "2026-11-16T08:00:00.123Z",
    finished_at: "2026-11-16T08:00:02.623Z",
    duration_ms: 2_500,
    ...changes,
  };
  const failures = jobs
    .filter(({ status, handled }) => status === "failed" && !handled)
    .map(({ name, error, printed }) => ({
      ...{ step: name, scope: "root", attempt: 1, code: error!.code, message: error!.message },
      ...{ stdout_tail: null, stderr_tail: printed === "" ? null : printed },
    }));
  const summary = {
    report,
    counts: ["1 completed", "1 failed"],
    failures,
    holds: [],
    deadLetters: [],
    endings: [],
  };
  return { summary, jobs } as unknown as ReportedRun;
}

const broken = job("test", {
  status: "failed",
  error: { code: "EXIT_CODE", message: "exit code 1: it broke" },
  printed: "1 test failed",
});
const rescued = job("fetch", {
  attempts: 2,
  earlierFailures: [{ attempt: 1, code: "EXIT_CODE", message: "connection refused" }],
});

const error = { code: "EXIT_CODE", message: "exit code 1" };
const handled = job("unit", { status: "failed", handled: true, handledBy: "fallback", error });

describe("JUnit", () => {
  it("has a case for each job, and counts what failed and what did not run", () => {
    const jobs = [
      job("build"),
      rescued,
      broken,
      job("deploy", { status: "blocked", attempts: 0, durationMs: 0 }),
    ];
    expect(junitText(reported(jobs))).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="0">
  <testsuite name="ci" tests="4" failures="1" errors="0" skipped="1" time="2.500" timestamp="2026-11-16T08:00:00">
    <properties>
      <property name="daruma.run" value="7"/>
      <property name="daruma.status" value="failed"/>
      <property name="label.branch" value="main"/>
    </properties>
    <testcase classname="ci" name="build" time="1.500"/>
    <testcase classname="ci" name="fetch" time="1.500">
      <system-out>attempt 1 failed: connection refused (EXIT_CODE)</system-out>
    </testcase>
    <testcase classname="ci" name="test" time="1.500">
      <failure message="exit code 1: it broke" type="EXIT_CODE">1 test failed</failure>
    </testcase>
    <testcase classname="ci" name="deploy" time="0.000">
      <skipped message="not finished (blocked)"/>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  it("counts a held job as a failure, and a handled one as skipped, with its message", () => {
    const text = junitText(reported([job("held", { status: "held", error }), handled]));
    expect(text).toContain('tests="2" failures="1" errors="0" skipped="1"');
    expect(text).toContain('message="held for a decision: exit code 1"');
    expect(text).toContain(
      '<skipped message="failed and was handled by fallback: exit code 1 (EXIT_CODE)"/>',
    );
  });

  it("says which failure a skipped job was skipped because of", () => {
    const skipped = job("publish", { status: "skipped", attempts: 0, skippedBy: "unit failed (EXIT_CODE)" });
    const lost = { code: "DEPENDENCY_FAILED", message: "unit did not complete" };
    const text = junitText(
      reported([
        skipped,
        job("sign", { status: "canceled", error: lost }),
        job("idle", { status: "skipped" }),
      ]),
    );
    expect(text).toContain('<skipped message="skipped: unit failed (EXIT_CODE)"/>');
    expect(text).toContain('<skipped message="canceled: unit did not complete"/>');
    expect(text).toContain('<skipped message="skipped"/>');
  });

  it("counts a handled failure of a strict run as a failure", () => {
    const text = junitText(reported([handled], { strict: true }));
    expect(text).toContain('tests="1" failures="1" errors="0" skipped="0"');
    expect(text).toContain('<failure message="exit code 1" type="EXIT_CODE">exit code 1</failure>');
  });

  it("keeps hostile output text: no markup of its own, no character that XML forbids", () => {
    const text = junitText(
      reported([
        job(HOSTILE, { status: "failed", error: { code: "X", message: HOSTILE }, printed: HOSTILE }),
      ]),
    );
    expect(text.match(/<\/failure>/g)).toHaveLength(1);
    expect(text).not.toContain("<x ");
    expect([...text].every((each) => /[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}]/u.test(each))).toBe(true);
    expect(text).toContain("a&lt;/failure&gt;&lt;x a=&quot;1&quot;&gt;]]&gt;&amp;");
  });
});

describe("GitHub annotations", () => {
  it("are an error for what failed and a warning for what was rescued", () => {
    expect(githubText(reported([rescued, broken, job("build")]))).toBe(
      "::error title=test failed (EXIT_CODE)::exit code 1: it broke\n" +
        "::warning title=fetch passed on attempt 2 (EXIT_CODE)::connection refused\n",
    );
  });

  it("are a warning for what was handled, and with strict an error", () => {
    expect(githubText(reported([handled], { status: "completed" }))).toBe(
      "::warning title=unit failed and was handled by fallback (EXIT_CODE)::exit code 1\n",
    );
    expect(githubText(reported([handled], { status: "completed", strict: true }))).toBe(
      "::error title=unit failed (EXIT_CODE)::exit code 1\n",
    );
  });

  it("are at most ten of a kind, the last of which tells how many more there are", () => {
    const lines = githubText(reported(Array.from({ length: 25 }, () => broken)))
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(10);
    expect(lines[9]).toBe("::error title=and 16 more::16 more steps: see the summary");
  });

  it("let nothing that a step printed become a command of its own", () => {
    const error = { code: "X", message: HOSTILE };
    const lines = githubText(reported([job("a,b::c\n::d", { status: "failed", error })]))
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^::error title=a%2Cb%3A%3Ac %3A%3Ad failed \(X\)::/);
  });

  it("tell of a run that failed without a failed step", () => {
    const error = { code: "DEADLINE", message: "over time" };
    expect(githubText(reported([], { error }))).toBe("::error title=ci failed::over time\n");
  });
});

describe("Markdown", () => {
  it("tells the failure with its last lines, what was rescued and every route", () => {
    const routes = [
      {
        ...{ seq: 9, at: "2026-11-16T08:00:01.123Z", step: "fetch", scope: "root", attempt: 1 },
        ...{ rung: "retry", to: "fetch", reason: "retry 1 of 3" },
      },
    ];
    expect(markdownText(reported([rescued, broken], { routes }))).toBe(`## ci: failed after 2.5 s

Run 7: 1 completed, 1 failed.

### \`test\` failed

exit code 1: it broke (\`EXIT_CODE\`)

\`\`\`text
1 test failed
\`\`\`

### Rescued

- \`fetch\` passed on attempt 2; before that: connection refused (\`EXIT_CODE\`)

### Failure routes taken

| time | step | attempt | rung | to | reason |
|---|---|---:|---|---|---|
| +1.0 s | \`fetch\` | 1 | retry |  | retry 1 of 3 |
`);
  });

  it("says of a completed run which failures were handled, and by what", () => {
    const failure = {
      job_id: 70_000_001,
      step: "unit",
      scope: "root",
      how: "edge",
      by: "fallback",
      ...error,
    };
    const handled_failures = [failure];
    const text = markdownText(reported([handled], { status: "completed", handled_failures }));
    expect(text).toContain("\n⚠ 1 failure handled: unit, by fallback.\n");
    const strict = markdownText(reported([handled], { status: "completed", handled_failures, strict: true }));
    expect(strict).toContain("unit, by fallback. Strict: this counts as a failure.\n");
    expect(markdownText(reported([handled], { handled_failures }))).not.toContain("⚠");
    // Somebody who decided has looked at it.
    const decided = [{ step: "unit", scope: "root", how: "skip", by: "ann", expired: false }];
    const finished = markdownText(reported([handled], { status: "completed", decided, strict: true }));
    expect(finished).toContain("\n⚠ unit skipped by ann.\n");
  });

  it("shows hostile output as it is: no fence, table, tag or mention of its own", () => {
    const text = markdownText(
      reported([job("x", { status: "failed", error: { code: "X", message: HOSTILE }, printed: HOSTILE })]),
    );
    expect(text).toContain("````text\n");
    const outsideFence = text.replace(/````text\n[\s\S]*?\n````/, "");
    expect(outsideFence).not.toMatch(/<[a-z/]|[^\\]\||@team/);
  });
});
