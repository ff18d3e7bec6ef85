import { describe, expect, it } from "vitest";
import { POLL_MS } from "../../src/fleet/supervisor/cluster-supervisor.js";
import type { SupervisorPorts } from "../../src/fleet/supervisor/supervisor-ports.js";
import { Random } from "../sim/random.js";
import { jobs, SupervisorBench, settingsOf, settled } from "../support/supervisor-bench.js";

const RUNS = Number(process.env.SIM_SEEDS ?? 20);

/** A process that stops for good at a chosen call to the world outside: nothing after it happens, nothing is answered. */
function mortal(
  ports: SupervisorPorts,
  diesAt: number,
): { readonly ports: SupervisorPorts; readonly isDead: () => boolean } {
  let calls = 0;
  const never = new Promise<never>(() => {});
  /** Odd deaths come before the call takes effect, even ones after it: then only the answer is lost. */
  const guard = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          calls += 1;
          if (calls > diesAt || (calls === diesAt && diesAt % 2 === 1)) return never;
          const answer = (value as (...given: unknown[]) => unknown).apply(target, args);
          if (calls !== diesAt) return answer;
          Promise.resolve(answer).catch(() => {});
          return never;
        };
      },
    });
  const { classify, plan } = ports.provider;
  const provider = new Proxy(guard(ports.provider), {
    get: (target, name) =>
      name === "classify" ? classify : name === "plan" ? plan : Reflect.get(target, name),
  });
  return {
    ports: { ...ports, store: guard(ports.store), provider },
    isDead: () => calls >= diesAt,
  };
}

describe("servers that die at any point", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])(
    "such as at their call number %i are followed by one that finds what was submitted and doubles nothing",
    async (diesAt) => {
      const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0, max_allocations: 2 }\n"));
      bench.demands = jobs(8, { memoryBytes: 1024 ** 2, runtimeMs: 55 * 60_000 });
      await bench.keepServer(1);
      const first = mortal(bench.ports(1), diesAt);
      void bench.supervisor(1, first.ports).start();
      await settled();
      bench.clock.forget();
      bench.dead.add(1);
      await bench.keepServer(2, 60 * 60_000);
      void bench.supervisor(2).start();
      await settled();
      await bench.polls(30);
      expect(new Set(bench.cluster.submitted).size).toBe(bench.cluster.submitted.length);
      // Both are there, whoever submitted them, and no third.
      expect(bench.cluster.inQueue()).toHaveLength(2);
      const live = await bench.store.listAllocations({ live: true });
      expect(live.map(({ id, state, owner }) => [id, state, owner.pid]).sort()).toEqual(
        bench.cluster.inQueue().map((id) => [id, "pending", 2]),
      );
      const usable = (await bench.store.listTokens()).filter(({ revoked_at }) => revoked_at === null);
      const known = new Set(live.map(({ token_id }) => token_id));
      // Tokens that nobody wrote down are left over by a death between token and row: their texts have gone with the process.
      expect(usable.filter(({ id }) => !known.has(id)).length).toBeLessThanOrEqual(2);
      await bench.store.close();
    },
  );

  it(`in any order, ${RUNS} stories: no key is submitted twice, caps hold, nothing is left over`, async () => {
    for (let seed = 1; seed <= RUNS; seed += 1) await story(seed);
  });
});

async function story(seed: number): Promise<void> {
  const random = new Random(seed);
  const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0, max_allocations: 3 }\n"));
  const pids: number[] = [];
  let nextPid = 1;
  const startServer = async (): Promise<void> => {
    const pid = nextPid++;
    pids.push(pid);
    await bench.keepServer(pid, 60 * 60_000);
    const { ports } = mortal(bench.ports(pid), random.between(0, 40 - 1) + 1);
    void bench.supervisor(pid, ports).start();
    await settled();
  };
  await startServer();
  for (let turn = 0; turn < 40; turn += 1) {
    bench.demands =
      random.between(0, 4 - 1) === 0
        ? []
        : jobs(random.between(0, 20 - 1), { memoryBytes: 1, runtimeMs: 55 * 60_000 });
    if (random.between(0, 5 - 1) === 0)
      bench.cluster.answers.push((["lost", "never", "timed_out"] as const)[random.between(0, 3 - 1)]!);
    bench.cluster.isSilent = random.between(0, 8 - 1) === 0;
    const ids = bench.cluster.inQueue();
    const id = ids[random.between(0, Math.max(0, ids.length - 1))];
    if (id !== undefined && random.between(0, 2 - 1) === 0) bench.begin(id);
    else if (id !== undefined && random.between(0, 3 - 1) === 0)
      bench.cluster.end(id, ["COMPLETED", "NODE_FAIL", "TIMEOUT", "PREEMPTED"][random.between(0, 4 - 1)]!);
    bench.clock.advance(POLL_MS);
    await settled();
    if (random.between(0, 6 - 1) === 0) {
      for (const pid of pids) bench.dead.add(pid);
      await startServer();
    }
    const live = await bench.store.listAllocations({ live: true });
    expect(live.length, `seed ${seed}, turn ${turn}`).toBeLessThanOrEqual(3);
  }
  expect(new Set(bench.cluster.submitted).size, `seed ${seed}`).toBe(bench.cluster.submitted.length);
  // In the end one server lives on, nobody wants anything, and what runs leaves by itself.
  bench.demands = [];
  bench.cluster.isSilent = false;
  bench.cluster.answers.length = 0;
  for (const pid of pids) bench.dead.add(pid);
  bench.clock.forget();
  await bench.keepServer(999, 24 * 60 * 60_000);
  void bench.supervisor(999).start();
  await settled();
  await bench.polls(4);
  for (const id of bench.cluster.inQueue()) bench.cluster.end(id, "COMPLETED");
  await bench.polls(90);
  expect(await bench.store.listAllocations({ live: true }), `seed ${seed}`).toEqual([]);
  expect(bench.cluster.inQueue(), `seed ${seed}`).toEqual([]);
  expect(bench.files.size, `seed ${seed}`).toBe(0);
}
