import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { workerRoutes } from "../../src/api/worker-routes.js";
import {
  registration as registrationShape,
  reports as reportsShape,
  type SentOutcome,
} from "../../src/fleet/desk/protocol.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { hashOfToken } from "../../src/store/token-text.js";
import { Bench } from "../core/bench.js";
import { bareServer, bearer } from "../support/api-server.js";
import { judged } from "../support/error-record.js";
import { PoolBench, registration, report } from "../support/pool-bench.js";

const bench = new PoolBench();

/** What goes on record of a report. */
async function recorded(outcome: SentOutcome["outcome"], upload?: string): Promise<unknown> {
  const { id, running } = await bench.deliver();
  if (upload !== undefined) bench.desk.writeOutput(id, "t1", Buffer.from(upload));
  const answered = bench.desk.report(id, [report({ outcome })]);
  for (let turn = 0; turn < 20 && running.told.length === 0; turn++)
    await new Promise((next) => setImmediate(next));
  running.settle("committed");
  const [answer] = await answered;
  return running.told[0] ?? answer;
}

describe("what a worker says of an output", () => {
  const items = Array.from({ length: 5 }, (_, at) => ({ key: `forged ${at}` }));

  it.each([
    ["more items than there are", [1], [{ key: "0" }]],
    ["other keys", ["a", "b"], [{ key: "a" }, { key: "b" }]],
    ["items of a text", "text", null],
    ["items of nothing", null, null],
  ])("is not taken: %s", async (_, value, expected) => {
    expect(await recorded({ kind: "succeeded", output: { kind: "value", value }, items })).toMatchObject({
      kind: "succeeded",
      output: { kind: "value", value },
      items: expected,
    });
  });

  it("is not taken of a file: its size, first words and items are those of what was sent", async () => {
    const text = JSON.stringify(["x".repeat(70_000), "b"]);
    const sha256 = createHash("sha256").update(text).digest("hex");
    const said = { kind: "artifact", path: "/theirs", bytes: 1, sha256, preview: "forged" } as const;
    const seen = await recorded({ kind: "succeeded", output: said, items }, text);
    expect(seen).toMatchObject({
      output: {
        kind: "artifact",
        path: expect.stringContaining(bench.folder),
        bytes: text.length,
        sha256,
        preview: text.slice(0, 1_000),
      },
      items: [{ key: "0" }, { key: "b" }],
    });
  });

  it("is asked for again where the file here is another", async () => {
    const output = {
      kind: "artifact",
      path: "/theirs",
      bytes: 2,
      sha256: "0".repeat(64),
      preview: "",
    } as const;
    expect(await recorded({ kind: "succeeded", output }, "{}")).toMatchObject({
      outcome: "retry",
      output_missing: true,
    });
  });

  it("is kept as a file where it is too large for the log, though it was sent in the report", async () => {
    const value = "y".repeat(100_000);
    const seen = (await recorded({
      kind: "succeeded",
      output: { kind: "value", value },
    })) as { output: { kind: string; path: string } };
    expect(seen.output.kind).toBe("artifact");
    expect(JSON.parse(readFileSync(seen.output.path, "utf8"))).toBe(value);
  });
});

describe("what a worker says of a failure", () => {
  it("is cut to what a record keeps, at the front of what was printed", async () => {
    const seen = await recorded({
      kind: "failed",
      facts: {
        message: "m".repeat(20_000),
        stack: "s".repeat(20_000),
        stdoutTail: `${"x".repeat(31_990)}end`,
        stderrTail: `${"ü".repeat(9_000)}end`,
      },
    });
    const { facts } = seen as { facts: Record<string, string> };
    expect(facts.stdoutTail).toBe(`${"x".repeat(8_189)}end`);
    expect(facts.stderrTail).toBe(`${"ü".repeat(4_094)}end`);
    expect([facts.message!.length, facts.stack!.length]).toEqual([4_096, 4_096]);
  });

  it.each([-1, 256, 2 ** 40])("has no exit code that no system reports: %d", async (exitCode) => {
    expect(await recorded({ kind: "failed", facts: { message: "m", exitCode } })).toEqual({
      kind: "failed",
      facts: { message: "m" },
    });
  });

  it.each([0, 1, 255])("has the exit code %d", async (exitCode) => {
    expect(await recorded({ kind: "failed", facts: { message: "m", exitCode } })).toMatchObject({
      facts: { exitCode },
    });
  });
});

describe("what a worker says of its place", () => {
  it.each([
    { node: "node1" },
    { node: "n:1._-x", allocation: "slurm/12_3", restart: 0 },
    { allocation: "grid.engine/41.7", restart: 2_147_483_647 },
    { node: null, allocation: null, restart: null, ends_in_ms: null },
    { ends_in_ms: 0, gpus: 8, nodes: 2 },
  ])("is taken: %j", (changes) => {
    expect(registrationShape.safeParse(registration(changes))).toMatchObject({ success: true });
  });

  it.each([
    { node: "" },
    { node: "a b" },
    { node: "\u001b[31mred" },
    { node: "n\u202e" },
    { node: "-rf" },
    { node: "n".repeat(201) },
    { allocation: "slurm" },
    { allocation: "slurm/" },
    { allocation: "/1" },
    { allocation: "a/b/c" },
    { allocation: "slurm/1\n2" },
    { allocation: `s/${"1".repeat(200)}` },
    { restart: -1 },
    { restart: 1.5 },
    { restart: 2 ** 31 },
    { ends_in_ms: -1 },
    { ends_in_ms: 2 ** 60 },
    { ends_in_ms: "1" },
    { gpus: -1 },
    { gpus: 0.5 },
    { gpus: 10 ** 9 },
    { nodes: 0 },
    { nodes: 10 ** 9 },
    { elsewhere: "x" },
  ])("is refused: %j", (changes) => {
    expect(registrationShape.safeParse(registration(changes as object))).toMatchObject({ success: false });
  });
});

describe("an attempt that its worker says was taken from it", () => {
  it("costs one of the step's restarts each time, and is the step's failure when they are used up", () => {
    const bench = new Bench("max_recoveries: 2\nsteps: { a: { exec: make } }");
    for (let time = 0; time < 3; time += 1) {
      bench.start("a");
      bench.finish("a", { kind: "failed", facts: { message: "m", evicted: true } });
    }
    const granted = bench.events.filter(({ type }) => type === "restart.granted");
    expect(granted).toHaveLength(2);
    expect(bench.status("a")).toEqual(["failed"]);
  });

  it("is believed in nothing but true or false", async () => {
    const facts = { message: "m", evicted: "yes" } as never;
    expect(
      reportsShape.safeParse({ reports: [report({ outcome: { kind: "failed", facts } })] }),
    ).toMatchObject({
      success: false,
    });
    expect(await recorded({ kind: "failed", facts: { message: "m", evicted: true } })).toEqual({
      kind: "failed",
      facts: { message: "m", evicted: true },
    });
  });
});

describe("a failure that calls itself what only the engine finds out", () => {
  it.each(["WORKER_LOST", "EVICTED", "STALLED"])("is an ordinary one: %s", (code) => {
    const ordinary = { class: "application", retryable: true };
    expect(judged({ message: "m", code })).toMatchObject({ ...ordinary, code: "ACTION_FAILED" });
    const declared = judged({ message: "m", exitCode: 3, declared: { code } });
    expect(declared).toMatchObject({ ...ordinary, code: "EXIT_3" });
    expect(judged({ message: "m", lost: true })).toMatchObject({ class: "infrastructure" });
  });
});

describe("an attempt that its worker says it has stopped", () => {
  const running = (): Bench => {
    const bench = new Bench("steps: { a: { exec: make, on_fail: { retry: { max: 1 } } } }");
    bench.start("a");
    return bench;
  };

  it("has failed like any other and climbs the ladder, where nobody asked for that", () => {
    const bench = running();
    bench.stop("a");
    const { error } = bench.events.find(({ type }) => type === "attempt.failed") as { error?: object };
    expect(error).toMatchObject({
      code: "ACTION_FAILED",
      message: "the worker stopped the attempt without being asked to",
    });
    expect(bench.events.some(({ type }) => type === "retry.scheduled")).toBe(true);
    bench.stop("a");
    expect(bench.events.some(({ type }) => type === "attempt.stopped")).toBe(false);
  });

  it("is canceled where the run was", () => {
    const bench = running();
    bench.take({ type: "run.cancel", reason: "enough", key: null });
    bench.stop("a");
    expect(bench.status("a")).toEqual(["canceled"]);
    expect(bench.events.some(({ type }) => type === "attempt.failed")).toBe(false);
  });
});

describe("the token of one worker", () => {
  it("acts as no worker that registered with another, in any request", async () => {
    const store = createMemoryStore();
    const make = async (name: string): Promise<{ authorization: string }> => {
      const token = `drm_${name.padEnd(43, "x")}`;
      await store.putToken({ name, role: "worker", hash: hashOfToken(token), at: 0, expiresAt: null });
      return bearer(token);
    };
    const [own, other] = [await make("own"), await make("other")];
    const { app } = await bareServer({
      store,
      groups: [{ prefix: "/api/v1", role: "worker", routes: workerRoutes({ desk: bench.desk }) }],
    });
    const ask = async (
      as: object,
      method: "POST" | "PUT" | "DELETE",
      path: string,
      payload?: object | string,
    ) => {
      const type = typeof payload === "string" ? "application/octet-stream" : "application/json";
      const headers = {
        host: "127.0.0.1",
        ...as,
        ...(payload === undefined ? {} : { "content-type": type }),
      };
      const body = payload === undefined ? {} : { payload };
      const { statusCode } = await app.inject({ method, url: `/api/v1${path}`, headers, ...body });
      return statusCode;
    };
    expect(await ask(own, "POST", "/workers", registration())).toBe(200);
    const at = "/workers/aaaaaaaa-0000";
    const beat = { attempts: [], draining: true };
    const hostile: [method: "POST" | "PUT" | "DELETE", path: string, payload?: object | string][] = [
      ["POST", `${at}/claim`, { session: "s", wait_ms: 0 }],
      ["POST", `${at}/heartbeat`, beat],
      ["POST", `${at}/reports`, { reports: [report()], session: "s" }],
      ["PUT", `${at}/logs?token=t1&stream=stdout&offset=0`, "x"],
      ["PUT", `${at}/output?token=t1`, "{}"],
      ["DELETE", at],
    ];
    for (const [method, path, payload] of hostile)
      expect([path, await ask(other, method, path, payload)]).toEqual([path, 404]);
    // Neither the same process nor the same name.
    expect(await ask(other, "POST", "/workers", registration())).toBe(403);
    const sameName = registration({ instance: "aaaaaaaa-9999" });
    expect(await ask(other, "POST", "/workers", sameName)).toBe(403);
    expect(await ask(own, "POST", `${at}/heartbeat`, beat)).toBe(200);
    expect(await ask(own, "POST", "/workers", registration())).toBe(200);
    expect(await ask(own, "DELETE", at)).toBe(204);
    console.log(`workers: ${hostile.length + 2} requests as another's worker, ${hostile.length + 2} refused`);
    await app.close();
  });
});
