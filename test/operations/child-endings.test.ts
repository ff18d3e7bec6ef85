import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Daruma } from "../../src/host/daruma.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-child-endings-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The end of the parent, of its child run, and what the steps have written. */
async function run(parent: string, child: string) {
  writeFileSync(join(folder, "child.yaml"), child.replaceAll("$LOG", join(folder, "log")));
  writeFileSync(join(folder, "parent.yaml"), parent.replaceAll("$LOG", join(folder, "log")));
  const daruma = await Daruma.open({ outputDir: join(folder, "out") });
  try {
    const { result, runId } = await daruma.start(join(folder, "parent.yaml"));
    const { status } = await result;
    const [called] = await daruma.store.listRuns({ status: ["completed", "failed", "canceled"], limit: 1 });
    const log = existsSync(join(folder, "log"))
      ? readFileSync(join(folder, "log"), "utf8").trim().split("\n")
      : [];
    return { status, child: called!.id === runId ? null : called!.status, log };
  } finally {
    await daruma.close();
  }
}

const PARENT = `name: parent
steps:
  call: { type: workflow, file: child.yaml, undo: undo-call }
  after: { exec: "exit 3", depends_on: [call] }
  undo-call: { exec: "echo undo-call >> $LOG" }
`;
const CHILD = `name: child
steps:
  make: { exec: "echo make >> $LOG", undo: unmake }
  use: { exec: "echo use >> $LOG", depends_on: [make] }
  unmake: { exec: "echo unmake >> $LOG" }
`;

test("a child run takes no place: it may be of its parent's group", { tags: ["G1"] }, async () => {
  const group = "concurrency: { group: one }\n";
  const { status, child } = await run(
    `name: parent\n${group}steps: { call: { type: workflow, file: child.yaml } }\n`,
    `name: child\n${group}steps: { a: { type: noop } }\n`,
  );
  expect([status, child]).toEqual(["completed", "completed"]);
});

test("a child run that fails undoes itself, and its parent's step is not undone", {
  tags: ["U5"],
}, async () => {
  const failing = CHILD.replace("echo use >> $LOG", "exit 4");
  expect(await run(PARENT, failing)).toEqual({ status: "failed", child: "failed", log: ["make", "unmake"] });
});

test("a child run that completed stays done; the undo of its parent's step says how", {
  tags: ["U5"],
}, async () => {
  expect(await run(PARENT, CHILD)).toEqual({
    status: "failed",
    child: "completed",
    log: ["make", "use", "undo-call"],
  });
});
