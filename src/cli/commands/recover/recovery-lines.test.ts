import { expect, it } from "vitest";
import { foundLines, type Recovery, recoveryLines } from "./recovery-lines.js";

type Found = Recovery["jobs"][number];

const MIB = 1024 ** 2;
const found = (id: number, more: Partial<Found>): Found => ({
  ...{ job_id: id, step: `train_${id}`, scope: "root", code: "EXIT_3", diagnosis: "unknown" },
  ...{ recovers: false, raise: null, limit: null, why: "unknown_failure", explanation: "as it is" },
  ...more,
});
const memory = (id: number, to: number, limit: number | null = null): Found => {
  const raise = { resource: "memory", from: 64 * MIB, to: to * MIB } as const;
  const of = limit === to ? ", the limit of cluster hpc" : "";
  return found(id, {
    ...{ code: "OOM", diagnosis: "memory", recovers: true, why: "raised", raise },
    limit: limit === null ? null : { amount: limit * MIB, cluster: "hpc" },
    explanation: `memory 64 MiB -> ${to} MiB${of}`,
  });
};
const recovery = (jobs: Found[]): Recovery => ({
  ...{
    run_id: 1,
    dry_run: true,
    before: "held",
    status: "running",
    jobs,
    changed: [],
    reason: "",
    key: "k",
    owner: null,
  },
  recovered: jobs.filter(({ recovers }) => recovers).length,
});

it("tells jobs together of which the same becomes, with the least and most that they are given", () => {
  const jobs = [
    memory(1, 122),
    found(2, {}),
    memory(3, 245),
    found(4, {}),
    memory(5, 128, 128),
    memory(6, 128, 128),
    memory(7, 198, 512),
  ];
  expect(recoveryLines(recovery(jobs))).toEqual([
    "5 jobs would run again",
    "  train_1, train_3, train_7 (OOM): run again: memory 64 MiB -> 122 MiB to 245 MiB",
    "  train_2, train_4 (EXIT_3): stay: as it is",
    "  train_5, train_6 (OOM): run again: memory 64 MiB -> 128 MiB, the limit of cluster hpc",
  ]);
});

it("says of one job what becomes of it, and of what nobody does any more that it would", () => {
  expect(foundLines([memory(1, 122), found(2, {})])).toEqual([
    "  train_1 (OOM): runs again: memory 64 MiB -> 122 MiB",
    "  train_2 (EXIT_3): stays: as it is",
  ]);
  expect(foundLines([memory(1, 122)], { isOver: true })).toEqual([
    "  train_1 (OOM): would run again: memory 64 MiB -> 122 MiB",
  ]);
});

it("names at most six jobs of a line, and twenty lines", () => {
  const many = Array.from({ length: 300 }, (_, id) => found(id, { code: `EXIT_${id % 30}` }));
  const lines = foundLines(many);
  expect(lines[0]).toBe(
    "  train_0, train_30, train_60, train_90, train_120, train_150 and 4 more (EXIT_0): stay: as it is",
  );
  expect(lines.slice(20)).toEqual(["  … and 100 more"]);
});
