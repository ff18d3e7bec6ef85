import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const CHILD = "name: child\nsteps: { work: { type: noop } }";

/** A folder with a child in it, and beside it a file that is none of the run's business. */
function place(name: string): { folder: string; secret: string } {
  const folder = join(bench.folder, name);
  mkdirSync(join(folder, "below"), { recursive: true });
  writeFileSync(join(folder, "below", "child.yaml"), CHILD);
  const secret = join(bench.folder, `${name}-secret.txt`);
  writeFileSync(secret, "the password is opensesame");
  return { folder, secret };
}

const parent = (file: string, more = ""): string =>
  `name: parent\nsteps: { sub: { type: workflow, file: "${file}"${more} } }`;

describe("a workflow with children, at a server", () => {
  it("is refused at once where it came as text and has no folder", async () => {
    const asked = bench.call("start_run", { source: parent("child.yaml") });
    expect(await refusalOf(asked)).toBe("FOLDER_NEEDED");
    await bench.call("save_draft", { name: "parent", source: parent("child.yaml") });
    await bench.call("publish_workflow", { name: "parent" });
    expect(await refusalOf(bench.call("start_run", { workflow: "parent" }))).toBe("FOLDER_NEEDED");
  });

  it("finds them below its folder", async () => {
    const { folder } = place("fine");
    const run = await bench.run(parent("below/child.yaml"), { folder });
    expect(run.status).toBe("completed");
    const up = await bench.run(parent("../below/child.yaml", ", cwd: below"), { folder });
    expect(up.status).toBe("completed");
  });

  it("finds those of a child below the folder of the run that was started", async () => {
    const { folder } = place("nested");
    writeFileSync(join(folder, "below", "middle.yaml"), parent("../last.yaml"));
    writeFileSync(join(folder, "last.yaml"), CHILD);
    expect((await bench.run(parent("below/middle.yaml"), { folder })).status).toBe("completed");
  });

  it("cannot have the server read another file, whichever way it is named", async () => {
    const { folder, secret } = place("closed");
    symlinkSync(secret, join(folder, "link.yaml"));
    symlinkSync(bench.folder, join(folder, "linked"));
    writeFileSync(join(folder, "below", "sly.yaml"), parent(secret));
    const name = "closed-secret.txt";
    const ways = [
      parent(secret),
      parent("/nowhere/at/all.yaml"),
      parent(`../${name}`),
      parent("link.yaml"),
      parent(`linked/${name}`),
      parent(name, `, cwd: "${bench.folder}"`),
    ];
    for (const source of ways) {
      const run = await bench.run(source, { folder });
      expect(run.jobs[0]!.error, source).toMatchObject({ code: "CHILD_INVALID" });
      expect(run.jobs[0]!.error!.message, source).toContain("CHILD_OUTSIDE");
      expect(JSON.stringify(run), source).not.toContain("opensesame");
    }
    const sly = await bench.run(parent("below/sly.yaml"), { folder });
    expect(sly.status).toBe("failed");
    const inner = await bench.call("get_run", { run_id: sly.run_id + 1 });
    expect(inner.jobs[0]!.error!.message).toContain("CHILD_OUTSIDE");
  });
});

describe("a fork of a run without a folder", () => {
  it("has none either", async () => {
    const { run_id } = await bench.run("name: plain\nsteps: { a: { type: noop } }");
    for (const more of [{}, { source: "name: plain\nsteps: { a: { type: noop } }" }]) {
      const fork = await bench.call("fork_run", { run_id, step: "a", ...more });
      expect((await bench.context.store.readRun(fork.run_id))!.folder).toBe("");
    }
  });
});
