import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/cli.js";
import { listAttempts, type RecordedRun, runAndRead, statusOfJobs } from "../support/recorded-run.js";

interface ExampleCase {
  readonly file: string;
  /** Attempts in the order of their start. Names in an inner list may start in any order among themselves. */
  readonly order: readonly (string | readonly string[])[];
  /** Jobs that do not end `completed`. */
  readonly otherStatuses?: Readonly<Record<string, string>>;
  /** Rungs taken, in order, as `step rung to`. */
  readonly routes: readonly string[];
  /** Steps that belong to another branch: they run once, at any time. */
  readonly beside?: readonly string[];
}

const CASES: readonly ExampleCase[] = [
  {
    file: "demo.yaml",
    order: [
      ...["fetch", "fetch", "fetch", "prepare", "lint", "tidy-up", "lint", "build"],
      ...["prepare", "lint", "build", "stand-up"],
    ],
    routes: ["fetch retry", "fetch retry", "lint remediate", "build goto"],
  },
  {
    file: "lab-05-retry.yaml",
    order: ["setup-env", "unit-tests", "unit-tests", "unit-tests", "summary"],
    routes: ["unit-tests retry", "unit-tests retry"],
  },
  {
    file: "remediate.yaml",
    order: ["build", "fix", "build", "after"],
    routes: ["build remediate"],
  },
  {
    file: "goto.yaml",
    order: ["setup", "build", "build", "build", "setup", "build", "after"],
    routes: ["build retry", "build retry", "build goto"],
    beside: ["docs"],
  },
  {
    file: "for-each.yaml",
    order: ["cities", ["visit@cities[0]", "visit@cities[1]", "visit@cities[1]", "visit@cities[2]"], "report"],
    routes: ["visit retry"],
  },
  {
    file: "on-success.yaml",
    order: ["unit-tests", "summary", "notify", "unit-tests", "summary", "notify", "publish"],
    routes: ["summary on_success", "summary on_success", "summary on_success"],
  },
  {
    file: "dynamic-routing.yaml",
    order: ["install", "check", "lint-fix", "check", "install", "check", "report"],
    routes: ["check remediate", "check goto"],
  },
  {
    file: "http-and-script.yaml",
    order: ["sample", "total", "print"],
    otherStatuses: { fetch: "skipped" },
    routes: [],
  },
];

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daruma-examples-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const runExample = (file: string, args: readonly string[] = []): Promise<RecordedRun> =>
  runAndRead(join("examples", file), join(folder, file), args);

/** Sorts what may come in any order, so that the whole can be compared at once. */
function sortGroups(order: ExampleCase["order"], attempts: readonly string[]): string[] {
  const sorted: string[] = [];
  let place = 0;
  for (const entry of order) {
    const size = typeof entry === "string" ? 1 : entry.length;
    sorted.push(...attempts.slice(place, place + size).sort());
    place += size;
  }
  return [...sorted, ...attempts.slice(place)];
}

describe("examples", () => {
  it("each have a case here", async () => {
    const files = (await readdir(join(repositoryRoot, "examples"))).filter((name) => name.endsWith(".yaml"));
    expect(files.sort()).toEqual(CASES.map((example) => example.file).sort());
  });

  it.each(CASES)("$file ends completed by exactly the attempts it announces", async (example) => {
    const run = await runExample(example.file);
    const beside = new Set(example.beside);
    const attempts = listAttempts(run);
    expect(attempts.filter((name) => beside.has(name)).sort()).toEqual([...beside].sort());
    const main = attempts.filter((name) => !beside.has(name));
    expect(sortGroups(example.order, main)).toEqual(example.order.flat());

    const statuses = statusOfJobs(run);
    for (const name of [...example.order.flat(), ...beside]) expect(statuses[name], name).toBe("completed");
    expect(statuses).toMatchObject(example.otherStatuses ?? {});
    expect(run.routes.map((route) => `${route.step} ${route.rung}`)).toEqual(example.routes);
    expect(run.status).toBe("completed");
    expect(run.exitCode).toBe(0);
  });

  it("can be run again in the same folder with the same outcome", async () => {
    const first = await runAndRead("examples/remediate.yaml", join(folder, "again"));
    const second = await runAndRead("examples/remediate.yaml", join(folder, "again"));
    expect(second.runId).not.toBe(first.runId);
    expect(listAttempts(second)).toEqual(["build", "fix", "build", "after"]);
  });

  it("wait the backoff that lab-05-retry.yaml asks for", async () => {
    const run = await runAndRead("examples/lab-05-retry.yaml", join(folder, "backoff"));
    const delays = run.events
      .filter((event) => event.type === "retry.scheduled")
      .map((event) => event.delayMs);
    expect(delays).toEqual([200, 400]);
  });

  it("give the reducer of for-each.yaml the outputs in the order of the items", async () => {
    const run = await runAndRead("examples/for-each.yaml", join(folder, "reduce"));
    const output = JSON.stringify(run.jobs.find((job) => job.step === "report")?.output);
    expect(output).toMatch(/"branches":3.*seen alpha.*seen beta.*seen gamma/);
  });

  it("fetch over HTTP where http-and-script.yaml is given an address", async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(requests === 1 ? 503 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(requests === 1 ? {} : [{ name: "salt", price: 2 }]));
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const { port } = server.address() as AddressInfo;
      const run = await runExample("http-and-script.yaml", [
        "--input",
        `url=http://127.0.0.1:${port}/prices.json`,
      ]);
      expect(listAttempts(run)).toEqual(["fetch", "fetch", "total", "print"]);
      expect(statusOfJobs(run)).toMatchObject({ sample: "skipped", print: "completed" });
      expect(JSON.stringify(run.jobs.find((job) => job.step === "total")?.output)).toContain('"sum":2');
      expect(run.exitCode).toBe(0);
    } finally {
      server.close();
    }
  });
});
