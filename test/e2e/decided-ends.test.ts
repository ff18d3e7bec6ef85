import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

const TRAIN = `
name: model
unhandled: hold
steps:
  train: { exec: "exit 7" }
  publish: { exec: "true", depends_on: [train] }
`;
const SKIPPED = /^! run (\d+) of model completed; train skipped by hand$/m;

/** The number of a run that is held at `train`. */
async function held(text: string, ...flags: string[]): Promise<string> {
  const { exitCode, report } = await cli.runJson(text, ...flags);
  expect(exitCode).toBe(3);
  return String(report.run_id);
}

it("A run that a person finished has no tick, in the terminal, in lists and in reports, and gives 0", async () => {
  const id = await held(TRAIN);
  const junit = join(cli.path, "skipped.xml");
  const resolved = await cli.daruma("resolve", id, "train", "--skip", "--reason", "not today");
  expect([resolved.exitCode, resolved.stdout]).toEqual([0, expect.stringMatching(SKIPPED)]);
  expect(resolved.stdout).not.toContain("✓");
  for (const command of ["show", "resume", "watch"])
    expect((await cli.daruma(command, id)).stdout).toMatch(SKIPPED);
  const [, row] = (await cli.daruma("list")).stdout.split("\n");
  expect(row).toMatch(/completed, 1 decided +model .*train failed and was skipped by hand$/);
  const { value } = await cli.json<Report & { decided: unknown }>("show", id);
  const job_id = value.jobs[0]!.id;
  const decided = { job_id, step: "train", scope: "root", how: "skip", by: "command line", expired: false };
  expect(value).toMatchObject({ status: "completed", decided: [decided], handled_failures: [] });
  const report = async (format: string, ...more: string[]) =>
    (await cli.daruma("report", id, "--format", format, ...more)).stdout;
  await report("junit", "--output", junit);
  expect(readFileSync(junit, "utf8")).toMatch(
    /<skipped message="failed and was skipped by hand: exit code 7.* \(EXIT_7\)"\/>/,
  );
  expect(await report("github")).toMatch(
    /^::warning title=train failed and was skipped by hand \(EXIT_7\)::/,
  );
  expect(await report("markdown")).toMatch(/^⚠ train skipped by hand\.$/m);
});

it("A completion by hand is told as one, and a later try that succeeds makes the run whole", async () => {
  const id = await held(TRAIN.replace("exit 7", "test -f better || exit 7"));
  const resolved = await cli.daruma("resolve", id, "train", "--complete", "1", "--reason", "done elsewhere");
  expect(resolved.stdout).toMatch(/^! run \d+ of model completed; train completed by hand$/m);
  const junit = (await cli.daruma("report", id, "--format", "junit")).stdout;
  expect(junit).toMatch(/<skipped message="failed and was completed by hand: exit code 7.*"\/>/);
  cli.write("better", "");
  const again = await cli.daruma("resume-from", id, "train", "--force");
  expect(again.stdout).toMatch(/^✓ run \d+ of model completed/m);
});

it("A fork says what a person finished in the run that it takes it over from", async () => {
  const id = await held(TRAIN);
  await cli.daruma("resolve", id, "train", "--complete", "1");
  const fork = await cli.daruma("fork", id, "--from", "publish");
  expect([fork.exitCode, fork.stdout]).toEqual([
    0,
    expect.stringMatching(/^! run \d+ of model completed; train completed by hand$/m),
  ]);
  expect((await cli.daruma("explain", "last", "train")).stdout).toContain(
    `It was taken over from run ${id}, attempt 1, where it was completed by hand, and did not run again.`,
  );
});

it("With --strict a person's decision is none of its business, but a hold that expired is", async () => {
  const decided = await held(TRAIN, "--strict");
  const resolved = await cli.daruma("resolve", decided, "train", "--skip");
  expect([resolved.exitCode, resolved.stdout]).toEqual([0, expect.stringMatching(SKIPPED)]);
  const soon = TRAIN.replace("unhandled: hold", "unhandled: hold\nhold: { expires: 1ms, then: skip }");
  const late = await held(soon, "--strict");
  const expired = await cli.daruma("resume", late);
  expect(expired.exitCode).toBe(1);
  expect(expired.stdout).toContain("of model completed; train skipped when its hold expired");
  expect(expired.stdout).toContain("strict: the exit code is 1, because a hold expired");
  expect((await cli.daruma("report", late, "--format", "junit")).stdout).toMatch(
    /<failure message="exit code 7/,
  );
});

it("A parent names what a person finished in its child run", async () => {
  cli.write("model.yaml", TRAIN);
  const parent = "name: parent\nsteps: { sub: { type: workflow, file: model.yaml } }\n";
  const ended = await cli.daruma("run", cli.write("parent.yaml", parent));
  const [, child = ""] = /daruma resolve (\d+) train/.exec(ended.stdout) ?? [];
  const resolved = await cli.daruma("resolve", child, "train", "--skip");
  expect(resolved.stdout).toMatch(
    new RegExp(`^! run \\d+ of parent completed, in run ${child} train skipped by hand$`, "m"),
  );
});
