import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DUTY_LEASE } from "../../src/store/lease-rules.js";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freshSchema } from "../support/embedded-postgres.js";
import { freePort } from "../support/free-port.js";
import { ManualClock } from "../support/manual-clock.js";
import { PostgresServer } from "../support/postgres-server.js";
import { firedTicks, keeperOn, publishSchedules, scheduleOf, standing } from "../support/schedule-world.js";

const LEASE_SECONDS = 3;
const TICKS = Number(process.env.SCHEDULE_TICKS ?? 2_000);
const TICKS_AT_ONCE = 50;
const SECOND_MS = 1_000;

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await PostgresServer.create();
});
afterAll(() => postgres?.remove());

it(`three servers on one PostgreSQL fire ${TICKS} ticks, each once`, {
  tags: ["K4"],
  timeout: 1_800_000,
}, async () => {
  const options = { url: postgres.url(), schema: freshSchema(), leaseClock: "caller" } as const;
  const stores: Store[] = [];
  for (let n = 0; n < 3; n += 1) stores.push(await openPostgresStore(options));
  const start = Date.parse("2026-03-29T00:00:00Z");
  const clock = new ManualClock(start);
  await publishSchedules(stores[0]!, clock, 1, scheduleOf({ cron: "* * * * * *" }));
  const keepers = stores.map((store) => keeperOn(store, clock));
  for (let round = 0; round < TICKS / TICKS_AT_ONCE; round += 1) {
    clock.advance(TICKS_AT_ONCE * SECOND_MS);
    // One of them has the lease; from time to time all believe that they have it.
    const working = round % 20 === 0 ? keepers : [keepers[round % 3]!];
    await Promise.all(working.map((keeper) => keeper.work()));
  }
  const [{ firing, missed, skipped }] = (await standing(stores[0]!, clock)).schedules as unknown as [never];
  expect({ firing, missed, skipped }).toMatchObject({
    firing: [],
    missed: { count: 0 },
    skipped: { count: 0 },
  });
  const ticks = Array.from({ length: TICKS }, (_, n) =>
    new Date(start + (n + 1) * SECOND_MS).toISOString().replace(".000Z", "Z"),
  );
  expect(await firedTicks(stores[1]!, TICKS + 1)).toEqual(ticks);
  for (const store of stores) await store.close();
});

describe("three servers with a schedule of every second", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-schedules-"));
  const servers: { process: DarumaProcess; url: string }[] = [];
  let store: Store;

  beforeAll(async () => {
    for (const name of ["first", "second", "third"]) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const process = new DarumaProcess(name, [
        ...["serve", "--port", String(port), "--store", postgres.url(), "--output-dir", join(folder, "out")],
        ...["--lease", String(LEASE_SECONDS)],
      ]);
      process.start();
      await untilReady(url, process);
      servers.push({ process, url });
    }
    store = await openPostgresStore({ url: postgres.url() });
  });

  afterAll(async () => {
    await store?.close();
    for (const { process } of servers) await process.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const cli = (url: string, ...words: string[]) => runCli([...words, "--server", url]);

  /** Without those that were started by hand. */
  const ticks = async (): Promise<string[]> =>
    (await firedTicks(store)).filter((tick) => !tick.startsWith("now-"));

  /** Kills the one that fires, as soon as some more ticks have fired. */
  async function killFiring(): Promise<void> {
    const before = (await ticks()).length;
    await eventually("more runs", async () => (await ticks()).length >= before + 3);
    const firing = await eventually("one to fire", async () => {
      const lease = await store.readLease(DUTY_LEASE.schedules);
      return servers.find(({ process }) => process.isRunning && process.pid === lease?.owner.pid);
    });
    await firing.process.kill();
  }

  it("go on when the one that fires is killed: no tick is lost, none has two runs", {
    tags: ["K4", "K5"],
    timeout: 1_800_000,
  }, async () => {
    const file = join(folder, "beat.yaml");
    const schedule = '{ id: pulse, cron: "* * * * * *", overlap: allow, catch_up: all }';
    writeFileSync(file, `name: beat\nschedule: ${schedule}\nsteps: { a: { type: noop } }\n`);
    const { url } = servers[0]!;
    expect(await cli(url, "workflow", "save", "beat", file)).toMatchObject({ exitCode: 0 });
    expect(await cli(url, "workflow", "publish", "beat")).toMatchObject({ exitCode: 0 });
    await killFiring();
    await killFiring();
    const left = servers.find(({ process }) => process.isRunning)!;
    const before = (await ticks()).length;
    await eventually("the last server to fire", async () => (await ticks()).length >= before + 3);
    const paused = await cli(left.url, "schedules", "pause", "beat", "pulse", "--reason", "seen enough");
    expect(paused).toMatchObject({ exitCode: 0, stdout: "beat/pulse is paused\n" });
    // What was to fire at that moment fires or not; nothing more does.
    await eventually("nothing to be left", async () => {
      const { stdout } = await cli(left.url, "schedules", "--json");
      const [{ last, missed, skipped }] = JSON.parse(stdout) as [
        { last: { tick: string }; missed: { count: number }; skipped: { count: number } },
      ];
      expect([missed.count, skipped.count]).toEqual([0, 0]);
      return last.tick.replace(".000Z", "Z") === (await ticks()).at(-1);
    });
    const fired = await ticks();
    const first = Date.parse(fired[0]!);
    expect(fired).toEqual(
      fired.map((_, n) => new Date(first + n * SECOND_MS).toISOString().replace(".000Z", "Z")),
    );
    const { stdout } = await cli(left.url, "schedules");
    expect(stdout.split("\n")[1]).toMatch(/^beat +pulse +\* \* \* \* \* \* +UTC +paused +\d+ +0 +0/);
    const now = await cli(left.url, "schedules", "run", "beat", "pulse");
    expect(now.stdout).toMatch(/^run \d+ of beat \(version 1\) started\n$/);
    expect(await cli(left.url, "schedules", "resume", "beat", "pulse")).toMatchObject({ exitCode: 0 });
    await eventually("it to fire again", async () => (await ticks()).length > fired.length);
  });
});
