import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

type Undone = { step: string; by: string | null }[];
type UndoneReport = Report & {
  readonly phase: string | null;
  readonly undone: { readonly done: Undone; readonly left: Undone } | null;
};

/** Each step writes its name into `mark`; `undo-b` waits for the file `mark.go`. */
const chain = (mark: string): string => `
name: chain
finally: [sweep]
env: { MARK: "${mark}" }
steps:
  a: { type: command, exec: 'echo a >> $MARK; echo ''{"id": 7}''', undo: undo-a }
  b: { type: command, exec: 'echo b >> $MARK', depends_on: [a], undo: undo-b }
  c: { type: command, exec: 'echo c >> $MARK; exit 3', depends_on: [b] }
  undo-a: { type: command, exec: 'echo undo-a {{ undo.output.id }} of {{ undo.step }} >> $MARK' }
  undo-b: { type: command, exec: 'echo undo-b >> $MARK; while [ ! -e $MARK.go ]; do sleep 0.05; done' }
  sweep: { type: command, exec: 'echo sweep >> $MARK' }
`;

async function lines(file: string, count: number): Promise<string[]> {
  for (;;) {
    const found = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
    if (found.length >= count) return found;
    await delay(10);
  }
}

const steps = (jobs: Undone | undefined) => jobs?.map(({ step, by }) => `${step} ${by}`);

describe("a finally step", () => {
  it.each([
    ["true", "completed//", 0],
    ["echo broken >&2; exit 3", "failed/EXIT_3/build: exit code 3: broken", 1],
  ])("knows how the run ends: %s", async (exec, told, code) => {
    const mark = join(cli.path, `ends-${code}`);
    const { exitCode } = await cli.daruma(
      "run",
      cli.write(
        `ends-${code}.yaml`,
        `finally: [tell, alarm]
steps:
  build: { exec: '${exec}' }
  tell: { exec: 'echo "$DARUMA_RUN_STATUS/$DARUMA_RUN_ERROR_CODE/$DARUMA_RUN_ERROR_MESSAGE" >> ${mark}' }
  alarm: { exec: 'echo {{ run.error.code | sh }} >> ${mark}', if: "run.status == 'failed'" }
`,
      ),
    );
    expect(exitCode).toBe(code);
    expect(readFileSync(mark, "utf8").trimEnd().split("\n")).toEqual([
      told,
      ...(code === 0 ? [] : ["EXIT_3"]),
    ]);
  });
});

describe("a run that fails", () => {
  it("is undone over a kill -9, exits with 1, and tells what was undone", {
    tags: ["U2", "U4", "U7", "U9"],
  }, async () => {
    const mark = join(cli.path, "killed");
    const run = cli.start("run", cli.write("killed.yaml", chain(mark)));
    const [, id] = await run.until(/run (\d+) of chain started/);
    await lines(mark, 4);
    const during = await cli.json<UndoneReport>("show", id!);
    expect([during.value.status, during.value.phase, steps(during.value.undone?.left)]).toEqual([
      "running",
      "undo",
      ["b undo-b", "a null"],
    ]);
    run.kill("SIGKILL");
    await run.ended;
    writeFileSync(`${mark}.go`, "");
    const { exitCode, report } = await cli.resume(Number(id));
    expect([exitCode, report.status, report.error?.code]).toEqual([1, "failed", "EXIT_3"]);
    expect(await lines(mark, 7)).toEqual(["a", "b", "c", "undo-b", "undo-b", "undo-a 7 of a", "sweep"]);
    const { done, left } = (report as UndoneReport).undone!;
    expect([steps(done), left]).toEqual([["b undo-b", "a undo-a"], []]);
    const story = await cli.daruma("explain", id!);
    expect(story.stdout).toContain("2 steps were undone (after ");
    expect(story.stdout).toContain("It was undone by undo-b.");
    const graph = await cli.daruma("graph", id!);
    expect(graph.stdout).toMatch(/-\.->\|"undo"\| n3/);
    const again = await cli.daruma("retry", id!, "c");
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining("RUN_UNDONE")]);
  });

  it("waits for a decision about an undo that fails", { tags: ["U3"] }, async () => {
    const flow = `
name: stuck
steps:
  a: { type: command, exec: "true", undo: undo-a }
  b: { type: command, exec: "false", depends_on: [a] }
  undo-a: { type: command, exec: "echo no way >&2; exit 9" }
`;
    const { exitCode, report } = await cli.runJson(flow);
    expect([exitCode, report.status]).toEqual([3, "held"]);
    const id = String(report.run_id);
    const story = await cli.daruma("explain", id);
    expect(story.stdout).toContain("say that you have undone it by hand, with --complete null");
    expect((await cli.daruma("resolve", id, "undo-a", "--complete", "null")).exitCode).toBe(0);
    const ended = await cli.resume(report.run_id);
    expect([ended.exitCode, steps((ended.report as UndoneReport).undone?.done)]).toEqual([1, ["a undo-a"]]);
  });
});

describe("cancel", () => {
  it("undoes before the run is canceled; --now ends that, too", { tags: ["U5"] }, async () => {
    const mark = join(cli.path, "canceled");
    const text = chain(mark).replace("echo c >> $MARK; exit 3", "echo c >> $MARK; sleep 600");
    const run = cli.start("run", cli.write("canceled.yaml", text));
    const [, id] = await run.until(/run (\d+) of chain started/);
    await lines(mark, 3);
    const canceling = cli.daruma("cancel", id!);
    await lines(mark, 4);
    const again = await cli.json<{ status: string }>("cancel", id!, "--now");
    expect([again.exitCode, again.value.status]).toEqual([0, "canceled"]);
    expect((await canceling).exitCode).toBe(0);
    expect(await run.ended).toBe(4);
    expect(await lines(mark, 4)).toEqual(["a", "b", "c", "undo-b"]);
    const { value } = await cli.json<UndoneReport>("show", id!);
    expect([value.undone?.done, steps(value.undone?.left)]).toEqual([[], ["b undo-b", "a null"]]);
  });

  it("ends the undo of a child run, too, when it is to be at once", { tags: ["U5"] }, async () => {
    const mark = join(cli.path, "child");
    const child = chain(mark).replace("echo c >> $MARK; exit 3", "echo c >> $MARK; sleep 600");
    cli.write("child.yaml", child);
    const parent = "name: parent\nsteps: { call: { type: workflow, file: child.yaml } }\n";
    const run = cli.start("run", cli.write("parent.yaml", parent));
    const [, id] = await run.until(/run (\d+) of parent started/);
    await lines(mark, 3);
    const canceling = cli.daruma("cancel", id!);
    await lines(mark, 4);
    expect((await cli.daruma("cancel", id!, "--now")).exitCode).toBe(0);
    await canceling;
    expect(await run.ended).toBe(4);
    expect(await lines(mark, 4)).toEqual(["a", "b", "c", "undo-b"]);
    const { value } = await cli.json<UndoneReport>("show", String(Number(id) + 1));
    expect([value.status, steps(value.undone?.left)]).toEqual(["canceled", ["b undo-b", "a null"]]);
  });
});

describe("a file that cannot be honoured", () => {
  it("is refused at its line", async () => {
    const file = cli.write(
      "wrong.yaml",
      "finally: [a]\nsteps: { a: { type: noop }, b: { type: noop, depends_on: [a] } }\n",
    );
    const { exitCode, stderr } = await cli.daruma("validate", file);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("wrong.yaml:2:")]);
    expect(stderr).toContain("names `a`, which is one of `finally`");
  });
});
