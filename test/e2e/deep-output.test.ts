import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();
const node = JSON.stringify(process.execPath);

/** A shell line that prints lists within each other. */
const lists = (levels: number): string =>
  `${node} -e 'process.stdout.write("[".repeat(${levels}) + "]".repeat(${levels}))'`;

describe("an output that is nested deeply", () => {
  it("is data up to 1,000 levels, then text on stdout, and OUTPUT_INVALID in $DARUMA_OUTPUT, once", async () => {
    const { exitCode, report } = await cli.runJson(`
name: deep
steps:
  data: { exec: ${JSON.stringify(lists(1_000))}, outputs: { type: array } }
  text: { exec: ${JSON.stringify(lists(1_001))}, outputs: { type: string } }
  far: { exec: ${JSON.stringify(lists(100_000))}, outputs: { type: string } }
  file: { exec: ${JSON.stringify(`${lists(1_001)} > $DARUMA_OUTPUT`)}, on_fail: { retry: { max: 3 } } }
  reader: { type: script, content: "return outputs.text.length", depends_on: [text] }
`);
    expect(exitCode).toBe(1);
    const told = report.jobs.map(({ step, status, attempts, error }) => [
      step,
      status,
      attempts,
      error?.code,
    ]);
    expect(told).toEqual([
      ["data", "completed", 1, undefined],
      ["text", "completed", 1, undefined],
      ["far", "completed", 1, undefined],
      ["file", "failed", 1, "OUTPUT_INVALID"],
      ["reader", "completed", 1, undefined],
    ]);
    expect(report.jobs[3]!.error).toMatchObject({
      message: "$DARUMA_OUTPUT: nested more than 1000 levels deep",
    });
    expect(report.jobs[4]!.output).toBe(2_002);
  });
});
