import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";
import { aCampaignTouchesOnlyItsItems } from "../support/invariants-campaign.js";

const LETTERS = Number(process.env.CAMPAIGN_LETTERS ?? 100);
const PER_RUN = 50;
const LIMIT_MS = 1_800_000;

const folder = mkdtempSync(join(tmpdir(), "daruma-campaign-"));
const fixed = join(folder, "fixed");
const out = join(folder, "out");
const source = JSON.stringify({
  name: "letters",
  queue: { max_attempts: 1, classes: ["application"] },
  steps: {
    list: {
      type: "script",
      content: `return Array.from({ length: ${PER_RUN} }, (_, n) => n)`,
      forEach: true,
    },
    call: { type: "command", exec: `test -e ${fixed} || exit 3`, depends_on: ["list"] },
  },
});

interface Shown {
  readonly state: string;
  readonly counts: { readonly good: number; readonly waiting: number };
}

let server: DarumaProcess | null = null;
afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

it(`a campaign over ${LETTERS} dead letters touches one while they still fail, and completes all of them once repaired, although its server is killed twice`, {
  tags: ["B7"],
  timeout: LIMIT_MS,
}, async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  server = new DarumaProcess("server", [
    "serve",
    "--port",
    String(port),
    "--output-dir",
    out,
    "--lease",
    "3",
  ]);
  server.start();
  await untilReady(url, server);
  const send = async <T>(path: string, body?: object): Promise<T> => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const headers = { "content-type": "application/json" };
    return (await (await fetch(`${url}/api/v1${path}`, { ...init, headers })).json()) as T;
  };
  const runs: number[] = [];
  for (let n = 0; n < LETTERS / PER_RUN; n += 1)
    runs.push((await send<{ run_id: number }>("/runs", { source })).run_id);
  for (const run of runs)
    await eventually("a run to fail", async () => {
      const { status } = await send<{ status: string }>(`/runs/${run}`);
      return status === "failed";
    });
  const shown = async (id: number): Promise<Shown> =>
    (await send<{ items: Shown[] }>(`/campaigns?campaign=${id}`)).items[0]!;
  const ended = (id: number): Promise<Shown> =>
    eventually("the end of the campaign", async () => {
      const now = await shown(id);
      return (now.state === "done" || now.state === "stopped") && now;
    });
  const first = await send<{ campaign: number; items: unknown[] }>("/campaigns", { workflow: "letters" });
  expect(first.items).toHaveLength(LETTERS);
  expect(await ended(first.campaign)).toMatchObject({
    state: "stopped",
    counts: { good: 0, bad: 1, waiting: LETTERS - 1 },
  });
  writeFileSync(fixed, "");
  const { campaign } = await send<{ campaign: number }>("/campaigns", {
    workflow: "letters",
    reason: "fixed",
  });
  for (const share of [0.1, 0.4]) {
    await eventually("some of them to be good", async () => {
      return (await shown(campaign)).counts.good >= LETTERS * share;
    });
    await server.kill();
    server.start();
    await untilReady(url, server);
  }
  expect(await ended(campaign)).toMatchObject({ state: "done", counts: { good: LETTERS, bad: 0 } });
  const told = await runCli(["campaigns", "show", String(campaign), "--server", url]);
  expect(told.stdout).toContain(`campaign ${campaign} is done: ${LETTERS} of ${LETTERS} good`);
  for (const run of runs)
    await eventually("a run to complete", async () => {
      const { status } = await send<{ status: string }>(`/runs/${run}`);
      return status === "completed";
    });
  await server.stop();
  const store = await openSqliteStore({ file: join(out, "daruma.db") });
  const record = (await store.readCampaign(campaign))!;
  for (const run of runs) {
    const events = (await store.readEvents(run)).map(({ event }) => event);
    expect(aCampaignTouchesOnlyItsItems(record, events)).toEqual([]);
    const redriven = events.filter(({ type }) => type === "jobs.retried").length;
    expect(redriven).toBe(PER_RUN + (run === runs[0] ? 1 : 0));
  }
  await store.close();
});
