import { describe, expect, it } from "vitest";
import type { ResourceRequirements } from "../../core/model/definition.js";
import type { Event } from "../../core/model/events.js";
import { type AttemptUsage, parseSamples, UsageReader } from "./attempt-usage.js";
import { ResourceGroups } from "./resource-groups.js";
import { timelineOf } from "./resource-timeline.js";

const MIB = 1024 ** 2;
const HOUR_MS = 3_600_000;
const BIG: ResourceRequirements = { cpus: 16, memoryBytes: 4096 * MIB, runtimeMs: 2 * HOUR_MS };

function usage(job: number, more: Partial<AttemptUsage> = {}): AttemptUsage {
  return {
    ...{ job, attempt: 1, endedAt: 10_000, durationMs: 10_000, hasSucceeded: true, asked: BIG },
    ...{ peakMemoryBytes: 100 * MIB, cpuMs: 10_000, readBytes: 1_000, writtenBytes: 512 },
    ...more,
  };
}

function groupsOf(...attempts: [step: string, usage: AttemptUsage][]) {
  const groups = new ResourceGroups();
  for (const [step, one] of attempts) groups.add(one, step, one.asked);
  return groups.result();
}

describe("what jobs asked for and used", () => {
  it("is told once for jobs that are called alike and ask for the same, with how it spreads", () => {
    const jobs = Array.from({ length: 100 }, (_, n): [string, AttemptUsage] => [
      `train_0.${n}_${n}`,
      usage(n, { peakMemoryBytes: (n + 1) * MIB }),
    ]);
    const [group, ...others] = groupsOf(...jobs);
    expect(others).toEqual([]);
    expect(group).toMatchObject({
      name: "train_*_*",
      jobs: 100,
      attempts: 100,
      asked: { cpus: 16, memory_bytes: 4096 * MIB, runtime_ms: 2 * HOUR_MS },
      used: {
        memory_bytes: { p50: 50 * MIB, p95: 95 * MIB, max: 100 * MIB },
        cpus: { p50: 1, p95: 1, max: 1 },
        cpu_ms: 1_000_000,
        read_bytes: 100_000,
        written_bytes: 51_200,
      },
    });
  });

  it("is told apart for jobs that ask for something else, and a single job keeps its name", () => {
    const small = { ...BIG, cpus: 1 };
    const names = groupsOf(["a_1", usage(1)], ["a_2", usage(2, { asked: small })]).map(({ name }) => name);
    expect(names.sort()).toEqual(["a_1", "a_2"]);
  });

  it("says who asked for ten times too much, with requirements to paste", { tags: ["L2"] }, () => {
    const [group] = groupsOf(["a", usage(1)]);
    expect(group!.findings).toEqual([
      { kind: "asked_too_much", resource: "cpus", asked: 16, used: 1, job: null },
      { kind: "asked_too_much", resource: "memory", asked: 4096 * MIB, used: 100 * MIB, job: null },
      { kind: "asked_too_much", resource: "runtime", asked: 2 * HOUR_MS, used: 10_000, job: null },
    ]);
    expect(group!.suggestion).toBe("resource_requirements: { num_cpus: 1, memory: 192m, runtime: 1m }");
  });

  it("says who came within a tenth of a limit, or passed it, and which job that was", {
    tags: ["L2"],
  }, () => {
    const asked = { cpus: 1, memoryBytes: 1024 * MIB, runtimeMs: 60_000 };
    const [group] = groupsOf(
      ["a_1", usage(1, { asked, peakMemoryBytes: 900 * MIB, durationMs: 55_000 })],
      ["a_2", usage(2, { asked, peakMemoryBytes: 1100 * MIB, hasSucceeded: false })],
    );
    expect(group!.findings).toEqual([
      { kind: "near_limit", resource: "memory", asked: 1024 * MIB, used: 1100 * MIB, job: "a_2" },
      { kind: "near_limit", resource: "runtime", asked: 60_000, used: 55_000, job: "a_1" },
    ]);
    expect(group!.suggestion).toBe("resource_requirements: { num_cpus: 1, memory: 1664m, runtime: 2m }");
  });

  it("does not say that a group asked for too much of what one of its jobs had too little of", {
    tags: ["L2"],
  }, () => {
    const asked = { cpus: 1, memoryBytes: 100 * MIB, runtimeMs: HOUR_MS };
    const more = { ...asked, memoryBytes: 300 * MIB };
    const small: [string, AttemptUsage] = ["a_1", usage(1, { asked, peakMemoryBytes: 4 * MIB })];
    const large = usage(2, { asked, peakMemoryBytes: 120 * MIB, hasSucceeded: false });
    const near = { kind: "near_limit", resource: "memory", asked: 100 * MIB, used: 120 * MIB, job: "a_2" };
    const idle = { kind: "asked_too_much", resource: "runtime", asked: HOUR_MS, used: 10_000, job: null };

    const [group] = groupsOf(small, ["a_2", large]);
    expect(group!.findings).toEqual([near, idle]);
    expect(group!.suggestion).toBe("resource_requirements: { num_cpus: 1, memory: 192m, runtime: 1m }");

    const groups = new ResourceGroups();
    const completed = usage(2, { attempt: 2, asked: more, peakMemoryBytes: 200 * MIB });
    for (const [step, one] of [small, ["a_2", large], ["a_2", completed]] as const)
      groups.add(one, step, asked);
    expect(groups.result()[0]!.suggestion).toBe(
      "resource_requirements: { num_cpus: 1, memory: 320m, runtime: 1m }",
    );
  });

  it("says nothing where less could not be asked for, nothing was measured, or it failed early", () => {
    const tiny = { cpus: 1, memoryBytes: 64 * MIB, runtimeMs: 60_000 };
    const quiet = [
      groupsOf(["a", usage(1, { asked: tiny, peakMemoryBytes: MIB, durationMs: 200, cpuMs: 1 })]),
      groupsOf(["a", usage(1, { asked: { ...BIG, runtimeMs: null }, peakMemoryBytes: null, cpuMs: null })]),
      groupsOf(["a", usage(1, { hasSucceeded: false })]),
      groupsOf(["a", usage(1, { asked: null })]),
    ].map(([group]) => [group!.findings, group!.suggestion]);
    expect(quiet).toEqual(Array.from({ length: 4 }, () => [[], null]));
  });

  it("puts those with something to say first, then by CPU time", () => {
    const modest = { cpus: 1, memoryBytes: null, runtimeMs: null };
    const found = groupsOf(
      ["small", usage(1, { asked: modest, cpuMs: 10 })],
      ["large", usage(2, { asked: modest, cpuMs: 9_000 })],
      ["wasteful", usage(3, { cpuMs: 1 })],
    );
    expect(found.map(({ name }) => name)).toEqual(["wasteful", "large", "small"]);
  });

  it("goes by what an attempt had been given, also after a rule or a person gave its job more", () => {
    const reader = new UsageReader(() => ({ cpus: 1, memoryBytes: 100, runtimeMs: null }));
    const read = (event: Partial<Event> & { type: Event["type"] }) =>
      reader.read({ seq: 1, at: 1, event: event as Event })?.asked?.memoryBytes;
    const ended = { type: "attempt.failed", job: 7, attempt: 1, durationMs: 1 } as const;
    expect(read(ended as never)).toBe(100);
    read({ type: "rule.reserved", job: 7, raised: { resource: "memory", from: 100, to: 150 } } as never);
    expect(read(ended as never)).toBe(150);
    read({ type: "jobs.retried", raised: [{ job: 7, resource: "memory", from: 150, to: 400 }] } as never);
    expect(read({ ...ended, type: "attempt.succeeded" } as never)).toBe(400);
    expect(read({ ...ended, job: 8 } as never)).toBe(100);
  });
});

describe("the timeline", () => {
  it("adds up what runs at a time: its area is the time, and the CPU time, of all attempts", () => {
    const attempts = Array.from({ length: 50 }, (_, n) =>
      usage(n, { endedAt: 20_000 + n * 317, durationMs: 1_000 + n * 93, cpuMs: 500 + n }),
    );
    const timeline = timelineOf(attempts)!;
    const area = (values: readonly number[]) =>
      values.reduce((sum, value) => sum + value * timeline.interval_ms, 0);
    const total = (value: (one: AttemptUsage) => number) =>
      attempts.reduce((sum, one) => sum + value(one), 0);
    expect(area(timeline.running)).toBeCloseTo(
      total(({ durationMs }) => durationMs),
      -2,
    );
    expect(area(timeline.cpus)).toBeCloseTo(
      total(({ cpuMs }) => cpuMs!),
      -2,
    );
    expect(timeline.running.length).toBeLessThanOrEqual(160);
    expect(Math.min(...timeline.running)).toBeGreaterThanOrEqual(0);
  });

  it("is there for one attempt that took no time, and not for none", () => {
    expect(timelineOf([])).toBeNull();
    expect(timelineOf([usage(1, { durationMs: 0 })])).toMatchObject({ interval_ms: 1, running: [0] });
  });
});

describe("samples", () => {
  const HEADER = "ms,processes,memory_bytes,cpu_ms,read_bytes,written_bytes";

  it("are read as they were written; the line that is being written is left out", () => {
    expect(parseSamples(`${HEADER}\n100,2,4096,30,1,512\n200,1,40`)).toEqual([
      { ms: 100, processes: 2, memory_bytes: 4096, cpu_ms: 30, read_bytes: 1, written_bytes: 512 },
    ]);
  });

  it("are thinned out where they are too many, but for the last one", () => {
    const lines = Array.from({ length: 5_003 }, (_, n) => `${n},1,1,1,1,1`);
    const found = parseSamples(`${HEADER}\n${lines.join("\n")}\n`);
    expect(found.length).toBeLessThanOrEqual(401);
    expect(found.at(-1)!.ms).toBe(5_002);
  });

  it.each(["", "other\n1,2\n", `${HEADER}\n-1,1,1,1,1,1\n1,2\n1,x,1,1,1,Infinity\n`])(
    "of a broken file are none: %j",
    (csv) => {
      expect(parseSamples(csv)).toEqual([]);
    },
  );
});
