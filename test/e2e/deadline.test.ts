import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("a workflow with a deadline", () => {
  it("is canceled when it takes longer, ends its process, says why, and exits with 4", {
    tags: ["C1"],
  }, async () => {
    const flow = `
name: slow
deadline: 600ms
warn_after: 200ms
steps: { wait: { type: command, exec: "sleep 600" }, after: { type: command, exec: "true", depends_on: [wait] } }
`;
    const { exitCode, stdout, stderr } = await cli.daruma("run", cli.write("slow.yaml", flow));
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/run 1 has been running for 200 ms; it is canceled after 600 ms\n/);
    expect(stdout).toContain("canceled: it took longer than its deadline of 600 ms");
    const { value } = await cli.json<{ status: string; error: { code: string } }>("show", "1");
    expect([value.status, value.error.code]).toEqual(["canceled", "DEADLINE"]);
    const story = await cli.daruma("explain", "1");
    expect(story.stdout).toMatch(
      /It was canceled .* \(DEADLINE\): it took longer than its deadline of 600 ms\./,
    );
    expect(story.stdout).not.toContain("Somebody");
    expect(story.stdout).toContain("- Continue what was canceled, with a new deadline:\n");
  });

  it("is refused where warn_after is not before it, at its line", async () => {
    const flow = cli.write("wrong.yaml", "deadline: 1m\nwarn_after: 1m\nsteps: { a: { type: noop } }\n");
    const { exitCode, stderr } = await cli.daruma("validate", flow);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`wrong.yaml:2:`)]);
    expect(stderr).toContain("`warn_after` is not before `deadline`");
  });
});
