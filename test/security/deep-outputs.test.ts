import { describe, expect, it } from "vitest";
import { DarumaError } from "../../src/core/errors/errors.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();
const LEVELS = 100_000;

/** Prints so many brackets, and closes them. */
const deep = `node -e 'process.stdout.write("[".repeat(${LEVELS}) + "]".repeat(${LEVELS}))'`;

describe("a value that is nested very deeply", () => {
  it("as an output fails its step with OUTPUT_INVALID; a person's is refused with it", async () => {
    const { jobs } = await bench.run(`unhandled: hold
steps: { deep: { type: command, exec: ${JSON.stringify(`${deep} > $DARUMA_OUTPUT`)} } }`);
    expect(jobs[0]).toMatchObject({
      status: "held",
      error: { code: "OUTPUT_INVALID", message: expect.stringContaining("nested more than 1000 levels") },
    });
    const output = JSON.parse("[".repeat(LEVELS) + "]".repeat(LEVELS)) as unknown;
    const refused = await bench
      .call("resolve_holds", {
        classifications: [{ job_id: jobs[0]!.id, action: "complete", reason: "by hand", output }],
      })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DarumaError);
    expect((refused as DarumaError).message).toMatch(/nested more than 1000 levels deep \(OUTPUT_INVALID\)/);
  });

  it("on stdout stays text", async () => {
    const { status, jobs } = await bench.run(
      `steps: { deep: { type: command, exec: ${JSON.stringify(deep)} } }`,
    );
    expect(status).toBe("completed");
    expect(jobs[0]!.error).toBeNull();
  });
});
