import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { InputOf } from "../../src/operations/client.js";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const OK =
  "name: ok\nlabels: { team: core, tier: '1' }\nsteps: { a: { type: noop }, b: { type: noop, depends_on: [a] } }";
const failing = (name: string, says: string): string =>
  `name: ${name}\nsteps: { fetch: { type: noop }, build: { exec: "echo ${says} >&2; exit 3", depends_on: [fetch] } }`;

const found = async (filter: InputOf<"list_runs">) =>
  (await bench.call("list_runs", filter)).items.map(({ run_id }) => run_id);
const jobs = async (filter: InputOf<"list_jobs">) =>
  (await bench.call("list_jobs", filter)).items.map(({ run_id, step }) => `${run_id} ${step}`);

describe("labels of a run", () => {
  it("are those of its workflow, and over them those that it is started with", { tags: ["S1"] }, async () => {
    const { run_id, labels } = await bench.run(OK, { labels: { tier: "2", "app/env": "prod" } });
    const all = { team: "core", tier: "2", "app/env": "prod" };
    expect(labels).toEqual(all);
    const { items } = await bench.call("list_runs", { limit: 1 });
    expect(items).toMatchObject([{ run_id, labels: all }]);
    expect((await bench.run("name: bare\nsteps: { a: { type: noop } }")).labels).toEqual({});
  });

  it("go on in a fork, where a newer file may say otherwise and --label has the last word", {
    tags: ["S1"],
  }, async () => {
    const { run_id } = await bench.run(OK, { labels: { by: "hand", env: "prod" } });
    const source = OK.replace("tier: '1'", "tier: '3'");
    const labels = { env: "test" };
    const forked = await bench.call("fork_run", { run_id, step: "b", source, labels });
    expect((await bench.settled(forked.run_id)).labels).toEqual({
      ...{ team: "core", tier: "3", by: "hand", env: "test" },
    });
  });

  it("are also those of its child runs", { tags: ["S1"] }, async () => {
    writeFileSync(
      join(bench.folder, "child.yaml"),
      "name: child\nlabels: { team: other, own: '1' }\nsteps: { a: { type: noop } }",
    );
    const source =
      "name: parent\nlabels: { team: core }\nsteps: { sub: { type: workflow, file: child.yaml } }";
    const { run_id } = await bench.run(source, { folder: bench.folder, labels: { release: "7" } });
    const { items } = await bench.call("list_runs", { label: ["release=7"] });
    expect(items.map(({ workflow, parent, labels }) => [workflow, parent?.run_id, labels])).toEqual([
      ["child", run_id, { team: "core", own: "1", release: "7" }],
      ["parent", undefined, { team: "core", release: "7" }],
    ]);
  });

  it("are refused, and no run begins, where they do not fit or look like a secret", {
    tags: ["S1"],
  }, async () => {
    const before = await found({});
    const refused = (labels: object) => refusalOf(bench.call("start_run", { source: OK, labels } as never));
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
    for (const labels of [
      { "a b": "x" },
      { a: "x\ny" },
      { a: "x,y" },
      { a: "v".repeat(201) },
      many(33),
      { a: 1 },
    ])
      expect(await refused(labels)).toMatch(/invalid|must/i);
    expect(await refused({ token: `ghp_${"a1B2".repeat(9)}` })).toBe("INVALID_INPUT");
    // Together with the two of the file.
    expect(await refused(many(31))).toBe("INVALID_INPUT");
    expect(await found({})).toEqual(before);
  });

  it("make another request of the same key", { tags: ["S1"] }, async () => {
    const start = (labels: { [key: string]: string }) =>
      bench.call("start_run", { source: OK, labels, key: "labeled" });
    const { run_id } = await start({ a: "1" });
    expect((await start({ a: "1" })).run_id).toBe(run_id);
    expect(await refusalOf(start({ a: "2" }))).toBe("KEY_REUSED");
  });
});

describe("a search", () => {
  it("finds runs and jobs by label, text, signature, status and workflow", { tags: ["S2"] }, async () => {
    const refused = await bench.run(failing("alpha", "upstream 100%_refused"), { labels: { find: "me" } });
    const broken = await bench.run(failing("beta", "disk full"), { labels: { find: "me" } });
    const label = ["find=me"];
    const [a, b] = [refused.run_id, broken.run_id];
    expect(await found({ label })).toEqual([b, a]);
    expect(await found({ label: ["find"], workflow: "alpha" })).toEqual([a]);
    expect(await found({ label, text: "BETA" })).toEqual([b]);
    expect(await found({ label, text: "exit code 3" })).toEqual([b, a]);
    expect(await found({ label, text: "exit_code_3" })).toEqual([]);
    expect(await found({ label, status: ["completed"] })).toEqual([]);
    const { signature } = refused.jobs.find(({ step }) => step === "build")!.error!;
    expect(await found({ label, signature })).toEqual([a]);
    expect(await found({ label, signature: signature.slice(3, 11) })).toEqual([a]);
    expect(await jobs({ label, signature })).toEqual([`${a} build`]);
    expect(await jobs({ label, workflow: "beta" })).toEqual([`${b} fetch`, `${b} build`]);
    expect(await jobs({ label, text: "fetch", status: ["completed"] })).toEqual([`${a} fetch`, `${b} fetch`]);
    expect(await jobs({ label, text: "exit code", since: "1h" })).toEqual([`${a} build`, `${b} build`]);
  });

  it("finds when runs were created, in the words of people", { tags: ["S2"] }, async () => {
    const { run_id } = await bench.run(OK, { labels: { when: "now" } });
    const label = ["when=now"];
    for (const since of ["1h", "today", "yesterday", "2020-01-01"])
      expect(await found({ label, since })).toEqual([run_id]);
    for (const until of ["1h", "yesterday", "2020-01-01"]) expect(await found({ label, until })).toEqual([]);
    expect(await found({ label, until: "today" })).toEqual([run_id]);
    expect(await jobs({ label, until: "1h" })).toEqual([]);
  });

  it("finds imported runs, too, by their labels and failures", { tags: ["S2"] }, async () => {
    const { run_id, jobs: all } = await bench.run(failing("gamma", "lost"), {
      labels: { from: "elsewhere" },
    });
    const document = await bench.call("export_run", { run_id });
    const imported = await bench.call("import_run", { document } as never);
    const { signature } = all.find(({ step }) => step === "build")!.error!;
    const both = [imported.run_id, run_id];
    expect(await found({ label: ["from=elsewhere"] })).toEqual(both);
    expect(await found({ signature })).toEqual(both);
    expect(await found({ text: "gamma", since: "1h" })).toEqual(both);
    expect(await jobs({ signature })).toEqual(both.toReversed().map((id) => `${id} build`));
  });

  it("goes on where a page ended, although runs came since", { tags: ["S2"] }, async () => {
    const start = async () => (await bench.run(OK, { labels: { paged: "1" } })).run_id;
    const ids = [await start(), await start(), await start()];
    const label = ["paged=1"];
    const first = await bench.call("list_runs", { label, limit: 2 });
    expect(first.items.map(({ run_id }) => run_id)).toEqual([ids[2], ids[1]]);
    await start();
    const rest = await bench.call("list_runs", { label, limit: 2, before: first.next! });
    expect([rest.items.map(({ run_id }) => run_id), rest.next]).toEqual([[ids[0]], null]);
  });

  it("finds no interrupted runs among those that a server runs, nor jobs of them", {
    tags: ["S2"],
  }, async () => {
    expect(await found({ interrupted: true })).toEqual([]);
    expect(await found({ interrupted: true, status: ["failed"] })).toEqual([]);
    expect(await jobs({ interrupted: true })).toEqual([]);
  });

  it("refuses what is no time, label or signature", { tags: ["S2"] }, async () => {
    const refused = (input: object) => refusalOf(bench.call("list_runs", input as never));
    for (const input of [
      { since: "tomorrow" },
      { until: "x" },
      { label: ["=x"] },
      { signature: "v1:%" },
      { text: " " },
    ])
      expect(await refused(input)).not.toBe("not refused");
  });
});
