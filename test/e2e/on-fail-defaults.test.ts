import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

const REPAIRED = `
name: repaired
routing:
  defaults:
    on_fail: { run: [fix], goto: { step: setup, max: 1 } }
steps:
  setup: { exec: "echo x >> visits" }
  build: { exec: "test $(wc -l < visits) -ge 2", depends_on: [setup] }
  fix: { exec: "echo fixed" }
`;

describe("defaults for the on_fail of every step", () => {
  it("repair and go back like a step's own keys, and graph and explain show them", async () => {
    const { exitCode, report } = await cli.runJson(REPAIRED);
    expect(exitCode).toBe(0);
    expect(report.jobs.map(({ step, attempts, visits }) => [step, attempts, visits])).toEqual([
      ["setup", 2, 2],
      ["build", 3, 2],
      ["fix", 1, 1],
    ]);
    expect(report.routes.map(({ step, rung, to }) => [step, rung, to])).toEqual([
      ["build", "remediate", "fix"],
      ["build", "goto", "setup"],
    ]);
    const { stdout: story } = await cli.daruma("explain", String(report.run_id), "build", "--full");
    expect(story).toMatch(/goto: yes, back to setup\.\n *Cost: goto 1 of 1,/);
    const { stdout: picture } = await cli.daruma("graph", cli.write("flow.yaml", REPAIRED));
    expect(picture).toContain('n1 -.->|"on fail: goto, max 1"| n0');
    expect(picture).toContain('n0 -.->|"on fail: run"| n2');
    expect(picture).not.toContain('n0 -.->|"on fail: goto');
  });

  it("are checked at their own place, once", async () => {
    const wrong = cli.write("wrong.yaml", REPAIRED.replace("step: setup", "step: setpu"));
    const { exitCode, stdout, stderr } = await cli.daruma("validate", wrong);
    expect(exitCode).toBe(2);
    expect(`${stdout}${stderr}`.match(/UNKNOWN_STEP.*/g)).toEqual([
      "UNKNOWN_STEP routing.defaults.on_fail.goto names the unknown step `setpu`, did you mean `setup`?",
    ]);
    const idle = cli.write("idle.yaml", REPAIRED.replace("step: setup", "step: fix"));
    const found = await cli.daruma("validate", idle);
    expect(found.exitCode).toBe(0);
    expect(`${found.stdout}${found.stderr}`).toMatch(
      /idle\.yaml:5:28 NO_EFFECT the default `goto` applies to no step: /,
    );
  });
});
