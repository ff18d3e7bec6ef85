import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/text/iso-time.js";
import type { RunDocument } from "../../src/operations/exchange/run-document.js";
import type { Append, Store } from "../../src/store/store.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();

const FLOW = `name: flow
steps:
  a: { type: command, exec: "echo hello" }
  b: { type: command, exec: "exit 4", depends_on: [a], on_fail: { retry: { max: 1 } } }
`;

type Fields = { [field: string]: unknown };

async function exported(): Promise<RunDocument> {
  const { run_id } = await bench.run(FLOW);
  return JSON.parse(JSON.stringify(await bench.call("export_run", { run_id }))) as RunDocument;
}

function changed(document: RunDocument, at: number, change: (event: Fields) => void): RunDocument {
  const copy = structuredClone(document);
  change(copy.events[at]!.event as unknown as Fields);
  return copy;
}

const placeOf = (document: RunDocument, type: string): number =>
  document.events.findIndex(({ event }) => event.type === type);

/** Everything that an import could leave behind. */
async function traces() {
  const places = readdirSync(join(bench.folder, "out"), { recursive: true, encoding: "utf8" });
  return {
    runs: (await bench.call("list_runs", {})).items,
    workflows: (await bench.call("list_workflows", {})).items,
    foldersAndLogs: places.filter((place) => /(?:run-\d+|\.[oe])$/.test(place)).sort(),
  };
}

const refused = (document: unknown) => refusalOf(bench.call("import_run", { document: document as never }));

/** The same store, except for what it is given to commit. */
function storeWith(store: Store, commit: (appends: readonly Append[]) => Promise<void>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "commit") return commit;
      const found: unknown = Reflect.get(target, name);
      return typeof found === "function" ? (found.bind(target) as unknown) : found;
    },
  });
}

describe("an imported document", () => {
  it("may name the fields of its events in any order: the events of a job are found all the same", async () => {
    const document = await exported();
    const events = document.events.map(({ event, ...logged }) => ({
      ...logged,
      event: Object.fromEntries(Object.entries(event).reverse()),
    }));
    const diagnostics = [];
    for (const each of [document, { ...document, events }]) {
      const { run_id } = await bench.call("import_run", { document: each as never });
      const job = await bench.call("get_job", { run_id, job_id: "b" });
      diagnostics.push(job.diagnostics.map(({ attempt, rung }) => [attempt, rung]));
    }
    expect(diagnostics).toEqual(
      Array(2).fill([
        [1, "retry"],
        [2, "fail"],
      ]),
    );
  });

  it("is refused for a time that no event can have, and leaves nothing", async () => {
    const good = await exported();
    const before = await traces();
    let count = 0;
    for (const at of [1e300, -1e300, 9e15, -9e15, 8.64e15, 253_402_300_800_000, -1, 0.5, null, "0", {}]) {
      const withTimes = (isWrong: (index: number) => boolean) =>
        good.events.map((logged, index) => (isWrong(index) ? { ...logged, at } : logged));
      for (const document of [
        { ...good, events: withTimes(() => true) },
        { ...good, events: withTimes((index) => index === good.events.length - 1) },
        {
          ...good,
          run: { ...good.run, status: "running" },
          events: withTimes((index) => index < 3).slice(0, 3),
        },
      ]) {
        expect([at, await refused(document)]).toEqual([at, "IMPORT_INVALID"]);
        count += 1;
      }
    }
    const due = placeOf(good, "retry.scheduled");
    expect(await refused(changed(good, due, (event) => (event.due_at = 1e300)))).toBe("IMPORT_INVALID");
    expect(await traces()).toEqual(before);
    console.log(`imported times: ${count + 1} absurd ones, ${count + 1} refused`);
  });

  it("is refused for every field of an event that is missing or of another type", async () => {
    const good = await exported();
    const before = await traces();
    const mayMiss = new Set(["parent", "managed", "failure_handlers", "cause"]);
    let count = 0;
    for (const [index, { event }] of good.events.entries())
      for (const field of Object.keys(event)) {
        const wrong = changed(good, index, (fields) => (fields[field] = [{ x: [1] }]));
        expect([event.type, field, await refused(wrong)]).toEqual([event.type, field, "IMPORT_INVALID"]);
        count += 1;
        if (mayMiss.has(field)) continue;
        const without = changed(good, index, (fields) => delete fields[field]);
        expect([event.type, field, await refused(without)]).toEqual([event.type, field, "IMPORT_INVALID"]);
        count += 1;
      }
    expect(await traces()).toEqual(before);
    console.log(`imported fields: ${count} missing or wrong, ${count} refused`);
  });

  it("is told where its event is wrong", async () => {
    const good = await exported();
    const started = placeOf(good, "attempt.started");
    const failed = placeOf(good, "attempt.failed");
    const cases: [place: string, document: RunDocument][] = [
      ["events.0.event.folder (run.created)", changed(good, 0, (event) => (event.folder = 5))],
      ["events.0.event.file (run.created)", changed(good, 0, (event) => (event.file = { x: 1 }))],
      ["events.0.event.options (run.created)", changed(good, 0, (event) => (event.options = "x"))],
      ["events.0.event.inputs (run.created)", changed(good, 0, (event) => (event.inputs = 7))],
      ["events.0.event.workflow", changed(good, 0, (event) => (event.workflow = "other"))],
      [
        `events.${started}.event.attempt (attempt.started)`,
        changed(good, started, (event) => (event.attempt = "../../../../tmp/x")),
      ],
      [
        `events.${started}.event.attempt (attempt.started)`,
        changed(good, started, (event) => (event.attempt = 2 ** 40)),
      ],
      [
        `events.${started}.event.worker (attempt.started)`,
        changed(good, started, (event) => (event.worker = { x: [1] })),
      ],
      [
        `events.${failed}.event.error.code (attempt.failed)`,
        changed(good, failed, (event) => (event.error = { code: { a: 1 }, message: 7 })),
      ],
    ];
    const before = await traces();
    for (const [place, document] of cases) {
      const asked = bench.call("import_run", { document: document as never });
      await expect(asked).rejects.toMatchObject({
        code: "IMPORT_INVALID",
        message: expect.stringContaining(place) as string,
      });
    }
    expect(await traces()).toEqual(before);
  });

  it("leaves no file where the store fails", async () => {
    const good = await exported();
    expect(good.files.map(({ name }) => name.split("/")[0])).toEqual(
      expect.arrayContaining(["artifacts", "logs"]),
    );
    const { context } = bench;
    await bench.call("import_run", { document: good as never });
    const before = await traces();
    expect(before.foldersAndLogs.filter((place) => /run-\d+$/.test(place))).not.toEqual([]);
    expect(before.foldersAndLogs.filter((place) => /\.o$/.test(place))).not.toEqual([]);
    const store = storeWith(context.store, () => Promise.reject(new Error("disk full")));
    await expect(callIn({ ...context, store }, "import_run", { document: good as never })).rejects.toThrow(
      "disk full",
    );
    expect(await traces()).toEqual(before);
  });
});

describe("a run that is stored with an absurd time", () => {
  it("can be listed, shown, explained and pruned", async () => {
    const good = await exported();
    const { context } = bench;
    for (const at of [1e300, -9e15]) {
      const store = storeWith(context.store, (appends) =>
        context.store.commit(
          appends.map((append) => ({
            ...append,
            events: append.events.map((event) => ({ ...event, at })),
            run: { ...append.run!, created_at: at, started_at: at, finished_at: at },
          })),
        ),
      );
      const { run_id } = await callIn({ ...context, store }, "import_run", { document: good as never });
      const listed = (await bench.call("list_runs", {})).items.find((run) => run.run_id === run_id);
      expect(listed?.finished_at).toBe(iso(at));
      expect((await bench.call("get_run", { run_id })).created_at).toBe(iso(at));
      await bench.call("explain_run", { run_id });
      const pruned = await bench.call("prune_runs", { older_than: "3650d", dry_run: false });
      expect(pruned.removed.map((run) => run.run_id)).toEqual([run_id]);
    }
  });

  it("shows the nearest time that there is", () => {
    expect([1e300, -1e300, Number.NaN, 0].map(iso)).toEqual([
      "+275760-09-13T00:00:00.000Z",
      "-271821-04-20T00:00:00.000Z",
      "1970-01-01T00:00:00.000Z",
      "1970-01-01T00:00:00.000Z",
    ]);
  });
});
