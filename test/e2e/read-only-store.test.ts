import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";
import { makeReadOnly, type ReadOnlyFolder } from "../support/read-only-folder.js";

const HELD = `name: f
unhandled: hold
steps:
  a: { exec: "echo hi" }
  b: { exec: "echo bad; exit 3", depends_on: a }
`;
const READING: readonly [string, string][] = [
  ["list", "held"],
  ["show last", "EXIT_3"],
  ["logs last b", "bad"],
  ["explain last", "EXIT_3"],
  ["events last", "job.held"],
  ["export last", '"daruma-run"'],
  ["jobs last", "EXIT_3"],
  ["holds", "daruma resolve"],
  ["inbox", "f/b"],
  ["timeline last", "after"],
  ["graph last", "flowchart"],
  ["report last --format markdown", "1 held"],
  ["stats", "EXIT_3"],
  ["failures", "EXIT_3"],
];
const WRITING = [
  "run FILE",
  "retry last b",
  "resume last",
  "resolve last b --skip",
  "cancel last",
  "fork last --from b",
  "prune --older-than 1s",
  "token create x --role admin",
  "serve --port 0",
];

describe("a store that cannot be written", { timeout: 300_000 }, () => {
  const folder = new CliFolder();
  let readOnly: ReadOnlyFolder | null = null;
  afterEach(release);

  function release(): void {
    readOnly?.release();
    readOnly = null;
  }

  function protect(skip: (reason: string) => void): void {
    readOnly = makeReadOnly(folder.path);
    if (readOnly.reason !== null) skip(readOnly.reason);
  }

  const daruma = (line: string) =>
    folder.daruma(...line.replace("FILE", join(folder.path, "f.yaml")).split(" "));

  it("can be looked at, and says what to do to whoever would change it", async ({ skip }) => {
    folder.write("f.yaml", HELD);
    await folder.runJson(HELD);
    expect(existsSync(join(folder.outputDir, "daruma.db-wal"))).toBe(false);
    const before = readdirSync(folder.outputDir);
    protect(skip);
    for (const [line, shown] of READING) {
      const { exitCode, stdout, stderr } = await daruma(line);
      expect([line, exitCode, stderr]).toEqual([line, 0, ""]);
      expect(stdout).toContain(shown);
    }
    for (const line of WRITING) {
      const { exitCode, stderr } = await daruma(line);
      expect([line, exitCode, stderr.split(":")[0]]).toEqual([line, 5, "error STORE_READ_ONLY"]);
      expect(stderr).toContain("copy its whole folder to where you may write");
    }
    const doctor = await daruma("doctor");
    expect(doctor.stdout).toContain(`error store: ${folder.outputDir}/daruma.db cannot be written`);
    expect(doctor.stdout).not.toContain("damaged");
    expect(readdirSync(folder.outputDir)).toEqual(before);
  });

  it("is shown as a killed process left it, or refused where a part is missing", async ({ skip }) => {
    const running = folder.start("run", folder.write("long.yaml", "steps: { long: { exec: sleep 300 } }"));
    await running.until(/long started/);
    running.kill("SIGKILL");
    await running.ended;
    protect(skip);
    expect((await daruma("list")).stdout).toContain("interrupted");
    expect((await daruma("events last")).stdout).toContain("attempt.started");
    release();
    rmSync(join(folder.outputDir, "daruma.db-shm"));
    protect(skip);
    const refused = await daruma("list");
    expect(refused.exitCode).toBe(5);
    expect(refused.stderr).toContain("STORE_READ_ONLY");
    expect(refused.stderr).toContain("what was written last is in its -wal file");
    const doctor = await daruma("doctor");
    expect(doctor.stdout).toContain("-wal file");
    expect(doctor.stdout).not.toContain("damaged");
  });

  it("is not made on a disk that is read-only", async ({ skip }) => {
    folder.write("f.yaml", HELD);
    rmSync(folder.outputDir, { recursive: true, force: true });
    protect(skip);
    const { exitCode, stderr } = await daruma("run FILE");
    expect([exitCode, stderr.split(":")[0]]).toEqual([5, "error STORE_READ_ONLY"]);
  });
});
