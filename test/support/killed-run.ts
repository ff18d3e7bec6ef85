import { expect } from "vitest";
import { Daruma } from "../../src/host/daruma.js";

const CHAIN = ["first", "flaky", "long", "last"];

/** The store of an old build, whose run 1 had ended and whose run 2 was at its step `long` when it was killed. */
export async function expectKilledRunToGoOn(options: Parameters<typeof Daruma.open>[0]): Promise<void> {
  const daruma = await Daruma.open(options);
  const report = await (await daruma.resume(2)).result;
  const attempts = await daruma.store.readAttempts(2);
  const ended = await daruma.store.readRun(1);
  await daruma.close();
  expect(report.status).toBe("completed");
  expect(report.jobs.map(({ step, status }) => [step, status])).toEqual(
    CHAIN.map((step) => [step, "completed"]),
  );
  const stepOf = new Map(report.jobs.map(({ id, step }) => [id, step]));
  expect(attempts.map(({ job_id, attempt, status }) => [stepOf.get(job_id), attempt, status])).toEqual([
    ["first", 1, "succeeded"],
    ["flaky", 1, "failed"],
    ["flaky", 2, "succeeded"],
    ["long", 1, "failed"],
    ["long", 2, "succeeded"],
    ["last", 1, "succeeded"],
  ]);
  expect(ended).toMatchObject({ id: 1, status: "completed", parent: null, managed: false });
}
