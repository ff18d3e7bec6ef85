import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";
import { ORDER, startFlow, writeFlow } from "../support/flow-program.js";
import { repositoryRoot } from "../support/repository-root.js";

const cli = new CliFolder();
const did = (): string[] => readFileSync(join(cli.path, "did"), "utf8").trim().split("\n");

describe("a flow on the command line", () => {
  it("is drawn with what its program has called", async () => {
    writeFileSync(join(cli.path, "bad"), "");
    expect(await startFlow(cli, writeFlow(cli, ORDER), "order-7")).toBe("held");
    const { stdout, exitCode } = await cli.daruma("graph", "1");
    expect([exitCode, stdout]).toEqual([
      0,
      `flowchart TD
  n0["main"]
  style n0 fill:#e5e7eb,color:#111827
  n1["load"]
  style n1 fill:#86efac,color:#111827
  n2[/"parcels<br/>for each item"\\]
  style n2 fill:#86efac,color:#111827
  n3["pack"]
  style n3 fill:#86efac,color:#111827
  n4["charge"]
  style n4 fill:#f9a8d4,color:#111827
  n0 --> n1
  n1 --> n2
  n2 --> n3
  n3 --> n4
`,
    ]);
    expect((await cli.daruma("graph", "1", "--format", "dot")).stdout).toContain("n3 -> n4;");
    const before = await cli.daruma("graph", "1", "--at", "8");
    expect([before.exitCode, before.stdout]).toEqual([0, expect.not.stringContaining("charge")]);
    expect(did()).toEqual(["load", "pack", "pack", "charge"]);
    rmSync(join(cli.path, "bad"));
  });

  it("is gone on with from the command line with the module that has it", async () => {
    const file = writeFlow(
      cli,
      `  await s.step("load", does("load"));
  await s.step("refund", () => { throw new Error("no refund"); })
    .catch((error) => { if (!(error instanceof StepFailed)) throw error; });
  await s.map("parcels", ["a", "b"], { key: (each) => each }, (_, item) => item.step("pack", does("pack")));
  await s.step("charge", does("charge"));
  return s.step("ship", does("ship"));`,
      "refunds.mjs",
    );
    rmSync(join(cli.path, "did"));
    writeFileSync(join(cli.path, "bad"), "");
    expect(await startFlow(cli, file, "order-8")).toBe("held");
    rmSync(join(cli.path, "bad"));
    await cli.daruma("resolve", "2", "charge", "--retry");
    const refused = await cli.daruma("resume", "2");
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("NEEDS_PROGRAM")]);
    const missing = await cli.daruma("resume", "2", "--flows", cli.write("none.mjs", "export const a = 1;"));
    expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining("exports no flow")]);
    const resumed = await cli.daruma("resume", "2", "--flows", file, "--json");
    expect([resumed.exitCode, JSON.parse(resumed.stdout)]).toEqual([
      0,
      expect.objectContaining({ run_id: 2, status: "completed" }),
    ]);
    expect(did()).toEqual(["load", "pack", "pack", "charge", "charge", "ship"]);
  });

  it("is started from the command line, and the same key goes on with its run", async () => {
    const file = writeFlow(cli, '  return s.step("load", () => input.id);', "small.mjs");
    const words = ["flows", "run", file, "order", "--key", "order-9", "--json"];
    const first = await cli.daruma(...words, "--input", '{"id":9}');
    const { run_id, status } = JSON.parse(first.stdout) as { run_id: number; status: string };
    expect([first.exitCode, status]).toEqual([0, "completed"]);
    const again = await cli.daruma(...words, "--input", '{"id":9}');
    expect([again.exitCode, JSON.parse(again.stdout)]).toEqual([0, expect.objectContaining({ run_id })]);
    const unknown = await cli.daruma("flows", "run", file, "orders");
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining("It exports order.")]);
    const wrong = await cli.daruma("flows", "run", file, "order", "--input", "{");
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("--input is no JSON")]);
  });

  it("is tested with daruma/test, which the package has beside the library", () => {
    const file = pathToFileURL(writeFlow(cli, ORDER, "tested.mjs")).href;
    const program = `import { testFlow } from "daruma/test";
const { order } = await import(${JSON.stringify(file)});
const { status, output } = await testFlow(order, { input: { id: 7 } }).run();
console.log(status, output);
console.log(JSON.stringify((await testFlow.everyFailure(order)).map(({ step, end }) => [step, end])));`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: repositoryRoot,
      encoding: "utf8",
    });
    expect([stdout, stderr]).toEqual([
      'completed ship\n[["load","held"],["pack","held"],["charge","held"],["ship","held"]]\n',
      "",
    ]);
  });
});
