import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { EventReader } from "../support/event-source.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const CLIENTS = 50;
const JOBS_PER_RUN = 100;
const RUNS = Number(process.env.READ_RUNS ?? 3);
const MEGABYTE = 1024 * 1024;
/** What may lie about after everything; 100 jobs told to 50 readers and kept would be twice that. */
const MAX_GROWTH_BYTES = RUNS * 3.2 * MEGABYTE;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const WIDE = `
name: wide
steps:
${Array.from({ length: JOBS_PER_RUN }, (_, n) => `  s${n}: { type: command, exec: "true" }`).join("\n")}
`;

function heapAfterGc(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Asks for lists again and again until told to stop; every answer must be one. */
async function readLists(server: LiveServer, token: string, isOver: () => boolean): Promise<number> {
  const paths = [
    "/api/v1/runs?limit=5",
    "/api/v1/jobs?status=running&limit=20",
    "/jobs?limit=10",
    "/api/v1/holds",
  ];
  let asked = 0;
  while (!isOver()) {
    const { status } = await server.ask("GET", paths[asked % paths.length]!, { token });
    if (status !== 200) throw new Error(`${status} to ${paths[asked % paths.length]}`);
    asked += 1;
  }
  return asked;
}

/** Reads the stream of all runs and keeps only how often each event came. */
async function watchAll(
  server: LiveServer,
  token: string,
  from: string,
): Promise<{ seen: Map<string, number>; reader: EventReader }> {
  const seen = new Map<string, number>();
  const reader = await EventReader.open(`${server.url}/api/v1/events`, {
    authorization: `Bearer ${token}`,
    "last-event-id": from,
  });
  reader.response.on("data", () => {
    for (const { data } of reader.events.splice(0)) {
      const { run_id, seq } = data as { run_id: number; seq: number };
      const key = `${run_id}:${seq}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
  });
  return { seen, reader };
}

it(`${CLIENTS} clients read lists and event streams while ${RUNS * JOBS_PER_RUN} jobs run: no error, memory flat`, {
  timeout: 600_000,
}, async () => {
  const server = await servers.start();
  const tokens = await server.tokens();
  const token = tokens.operator;
  const from = (await server.ask<{ next: string }>("GET", "/api/v1/events", { token })).body.next;
  // One round before measuring: what is loaded and compiled once is no leak.
  await runAll(server, token, 2);
  const before = heapAfterGc();
  let over = false;
  const lists = Array.from({ length: CLIENTS / 2 }, () => readLists(server, tokens.viewer, () => over));
  const streams = await Promise.all(
    Array.from({ length: CLIENTS / 2 }, () => watchAll(server, tokens.viewer, from)),
  );
  const runs = await runAll(server, token, RUNS);
  over = true;
  const asked = await Promise.all(lists);
  expect(Math.min(...asked)).toBeGreaterThan(0);
  const logs = await Promise.all(runs.map((run) => server.running.store.readEvents(run)));
  const expected = logs.flatMap((log, at) => log.map(({ seq }) => `${runs[at]}:${seq}`));
  for (const { seen, reader } of streams) {
    await reader.until(() => expected.every((key) => seen.has(key)));
    expect(expected.filter((key) => seen.get(key) !== 1)).toEqual([]);
    reader.close();
    await reader.ended;
    seen.clear();
  }
  expect(server.faults).toEqual([]);
  expect(heapAfterGc() - before).toBeLessThan(MAX_GROWTH_BYTES);
});

async function runAll(server: LiveServer, token: string, count: number): Promise<number[]> {
  const runs: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { body } = await server.ask<{ run_id: number }>("POST", "/api/v1/runs", {
      body: { source: WIDE },
      token,
    });
    runs.push(body.run_id);
  }
  for (const run of runs) expect(await server.until(run, "completed", "failed")).toBe("completed");
  return runs;
}
