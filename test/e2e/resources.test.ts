import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-resources-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(name: string, text: string, env: Record<string, string> = {}) {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, text);
  return runCli(["run", file, "--output-dir", join(folder, name), "--json"], env);
}

describe("daruma run", () => {
  it("gives each step that asks for graphics processors its own, and leaves the others alone", {
    tags: ["L1"],
  }, async () => {
    const ask = (step: string): string =>
      `  ${step}: { exec: 'touch ${folder}/${step}; until test -e ${folder}/one -a -e ${folder}/two; do sleep 0.05; done; printf %s "$CUDA_VISIBLE_DEVICES" > ${folder}/${step}.seen', resource_requirements: { num_gpus: 1 } }`;
    const { exitCode } = await run(
      "gpus",
      `steps:\n${ask("one")}\n${ask("two")}
  both: { exec: 'printf %s "$CUDA_VISIBLE_DEVICES" > ${folder}/both.seen', resource_requirements: { num_gpus: 2 }, depends_on: [one, two] }
  none: { exec: 'printf %s "$CUDA_VISIBLE_DEVICES" > ${folder}/none.seen' }`,
      { CUDA_VISIBLE_DEVICES: "4,5" },
    );
    expect(exitCode).toBe(0);
    const seen = (step: string): string => readFileSync(join(folder, `${step}.seen`), "utf8");
    expect([seen("one"), seen("two")].sort()).toEqual(["4", "5"]);
    expect(seen("both")).toBe("4,5");
    expect(seen("none")).toBe("4,5");
  });

  it.each([
    ["num_gpus: 3", "the step needs 3 GPUs (num_gpus), and this worker has 2"],
    ["num_nodes: 2", "the step needs 2 machines at once (num_nodes), and this worker has 1"],
  ])("says at once what it can never have: %s", async (needs, message) => {
    const name = needs.replace(": ", "-");
    const { exitCode, stdout } = await run(
      name,
      `unhandled: fail\nsteps: { a: { exec: 'true', resource_requirements: { ${needs} } } }`,
      { CUDA_VISIBLE_DEVICES: "4,5" },
    );
    expect(exitCode).toBe(1);
    expect(stdout).toContain(message);
    expect(stdout).toContain("NO_WORKER");
  });
});
