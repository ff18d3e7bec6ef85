import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Daruma, defineWorkflow } from "../../src/index.js";
import { fileAppears } from "../support/file-appears.js";

let folder: string;
const open: Daruma[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-library-keys-"));
});

afterEach(async () => {
  for (const daruma of open.splice(0)) await daruma.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<Daruma> {
  const daruma = await Daruma.open({ outputDir: folder });
  open.push(daruma);
  return daruma;
}

const quick = defineWorkflow({ name: "quick", steps: { a: { type: "command", exec: "echo done" } } });

/** Its step says that it runs, and ends once it may. */
function waiting(): { workflow: ReturnType<typeof defineWorkflow>; ran: string; go: string } {
  const [ran, go] = [join(folder, "ran"), join(folder, "go")];
  const exec = `echo x >> ${ran}; until test -e ${go}; do sleep 0.02; done`;
  return {
    workflow: defineWorkflow({ name: "waiting", steps: { a: { type: "command", exec } } }),
    ran,
    go,
  };
}

describe("a program that starts a run with a key", () => {
  it("gets the same run again, with its result, in the same program", async () => {
    const daruma = await start();
    const { workflow, go } = waiting();
    const first = await daruma.start(workflow, { key: "k" });
    const second = await daruma.start(workflow, { key: "k" });
    expect(second.runId).toBe(first.runId);
    writeFileSync(go, "");
    expect((await first.result).status).toBe("completed");
    expect(await second.result).toEqual(await first.result);
    expect(await (await daruma.start(workflow, { key: "k" })).result).toEqual(await first.result);
    expect((await daruma.list()).items).toHaveLength(1);
  });

  it("goes on with it where an earlier program left it", async () => {
    const { workflow, ran, go } = waiting();
    const first = await (await start()).start(workflow, { key: "k" });
    await fileAppears(ran);
    await open.pop()!.close();
    writeFileSync(go, "");
    const again = await (await start()).start(workflow, { key: "k" });
    expect(again.runId).toBe(first.runId);
    expect((await again.result).status).toBe("completed");
    expect(readFileSync(ran, "utf8")).toBe("x\nx\n");
  });

  it("is told where another program runs it, and starts nothing beside it", async () => {
    const { workflow, ran, go } = waiting();
    const first = await (await start()).start(workflow, { key: "k" });
    await fileAppears(ran);
    const other = await start();
    await expect(other.start(workflow, { key: "k" })).rejects.toMatchObject({ code: "RUN_OWNED" });
    expect((await other.list()).items).toHaveLength(1);
    writeFileSync(go, "");
    await first.result;
  });

  it("is refused another workflow or other inputs under it", async () => {
    const daruma = await start();
    await (await daruma.start(quick, { key: "k" })).result;
    const other = defineWorkflow({ name: "quick", steps: { b: { type: "noop" } } });
    await expect(daruma.start(other, { key: "k" })).rejects.toMatchObject({ code: "KEY_REUSED" });
    await expect(daruma.start(quick, { key: "k", retryMax: 3 })).rejects.toMatchObject({
      code: "KEY_REUSED",
    });
    expect((await daruma.list()).items).toHaveLength(1);
  });
});
