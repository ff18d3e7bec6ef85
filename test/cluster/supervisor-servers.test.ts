import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bindSchedulers } from "../../src/fleet/allocations/requests/plan-lanes.js";
import type { Demand } from "../../src/fleet/allocations/scale/demand.js";
import { POLL_MS } from "../../src/fleet/supervisor/cluster-supervisor.js";
import type { SupervisorPorts } from "../../src/fleet/supervisor/supervisor-ports.js";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { freshSchema, sharedPostgresUrl } from "../support/embedded-postgres.js";
import { demand, SupervisorBench, settingsOf } from "../support/supervisor-bench.js";
import { definitionOf } from "../support/workflow-text.js";

const SETTINGS = settingsOf("    limits: { cooldown: 0s, max_allocations: 3 }\n    schedulers: {}\n");
const LEASE_MS = 30_000;
/** Each fills an allocation of its own. */
const WHOLE_NODE = { cpus: 4, runtimeMs: 3_000_000 };

/** Calls that have no answer yet, of all servers. */
let underWay = 0;
let url = "";
const opened: Store[] = [];

beforeAll(async () => {
  url = await sharedPostgresUrl();
});
afterAll(async () => {
  for (const store of opened) await store.close();
});

/** A server process with its own connections, which can be killed: none of its calls is answered any more. */
class ServerProcess {
  demands: Demand[] = [];
  /** It dies when the batch system has taken its next submission: the answer is lost with it. */
  diesAtSubmit = false;
  private dead = false;

  constructor(
    readonly pid: number,
    private readonly bench: SupervisorBench,
    private readonly store: Store,
    private readonly url: string,
  ) {}

  start(): Promise<void> {
    const ports = this.bench.ports(this.pid);
    const changes: Partial<SupervisorPorts> = {
      store: this.mortal(this.store),
      provider: this.mortal(this.bench.cluster),
      demands: () => this.demands,
      server: () => this.url,
    };
    return Promise.race([this.bench.supervisor(this.pid, { ...ports, ...changes }).start(), quiet()]);
  }

  beat(): Promise<void> {
    return this.bench.keepServer(this.pid, LEASE_MS, this.url);
  }

  kill(): void {
    this.dead = true;
    this.bench.dead.add(this.pid);
  }

  private mortal<T extends object>(part: T): T {
    const never = new Promise<never>(() => {});
    return new Proxy(part, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function" || name === "plan" || name === "classify") return value;
        return (...args: unknown[]) => {
          if (this.dead) return never;
          underWay += 1;
          const answer = Promise.resolve((value as (...given: unknown[]) => unknown).apply(target, args));
          if (name === "submit" && this.diesAtSubmit) this.kill();
          const counted = answer.finally(() => {
            underWay -= 1;
          });
          counted.catch(() => {});
          return this.dead ? never : counted.then((value) => (this.dead ? never : value));
        };
      },
    });
  }
}

/** Nothing is under way, and nothing follows from what was. */
async function quiet(): Promise<void> {
  for (let calm = 0; calm < 20; calm = underWay === 0 ? calm + 1 : 0)
    await new Promise((resolve) => setImmediate(resolve));
}

async function twoServers(addresses: readonly [string, string]) {
  const schema = freshSchema();
  const open = async (): Promise<Store> => {
    const store = await openPostgresStore({ url, schema, maxConnections: 2, leaseClock: "caller" });
    opened.push(store);
    return store;
  };
  const [one, two] = [await open(), await open()];
  const bench = new SupervisorBench(SETTINGS, two);
  const servers = [
    new ServerProcess(1, bench, one, addresses[0]),
    new ServerProcess(2, bench, two, addresses[1]),
  ] as const;
  /** So many polls go by, in which those that live say so. */
  const polls = async (count: number, ...alive: readonly ServerProcess[]): Promise<void> => {
    for (let poll = 0; poll < count; poll += 1) {
      for (const server of alive) await server.beat();
      bench.clock.advance(POLL_MS);
      await quiet();
    }
  };
  for (const server of servers) await server.beat();
  return { bench, servers, polls };
}

async function liveOf(bench: SupervisorBench) {
  const rows = await bench.store.listAllocations({ live: true });
  return rows.map(({ id, owner, state }) => ({ id, pid: owner.pid, state }));
}

describe("two servers on one PostgreSQL", () => {
  it("keep to one limit together, even if both look at the same moment", async () => {
    const { bench, servers, polls } = await twoServers(["http://login1:7420", "http://login2:7420"]);
    for (const { demands, pid } of servers)
      for (const at of [1, 2, 3]) demands.push(demand(pid * 10 + at, WHOLE_NODE));
    await Promise.all(servers.map((server) => server.start()));
    await polls(4, ...servers);
    expect(bench.cluster.submitted).toHaveLength(3);
    expect(new Set(bench.cluster.submitted).size).toBe(3);
    expect(await liveOf(bench)).toHaveLength(3);
  });

  it("of which one is killed while it submits: its allocation is found by its key, ended, and replaced once", async () => {
    const { bench, servers, polls } = await twoServers(["http://login1:7420", "http://login2:7420"]);
    const [first, second] = servers;
    const text = "slurm_schedulers: [{ name: s, mem: 1G }]\njobs: [{ name: a, command: x }]";
    const [request] = bindSchedulers(definitionOf(text), [SETTINGS]).schedulers!;
    const lane = { tag: request!.tag!, request: request! };
    first.demands = [demand(11, WHOLE_NODE), { ...demand(12), lane }];
    first.diesAtSubmit = true;
    await first.start();
    await second.start();
    expect(bench.cluster.submitted).toHaveLength(1);
    // Its rows are on record, and nobody knows the id of what was submitted.
    expect((await liveOf(bench)).every(({ id, pid }) => id === null && pid === 1)).toBe(true);
    await polls(3, second);
    expect((await liveOf(bench)).every(({ pid }) => pid === 1)).toBe(true);
    // Its lease runs out, and its runs are the other server's: they need what it had asked for.
    second.demands = first.demands;
    await polls(30, second);
    expect(bench.cluster.canceled).toEqual(["1 now"]);
    expect(new Set(bench.cluster.submitted).size).toBe(bench.cluster.submitted.length);
    expect(bench.cluster.submitted).toHaveLength(3);
    expect(bench.cluster.inQueue()).toEqual(["2", "3"]);
    expect((await liveOf(bench)).sort((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { id: "2", pid: 2, state: "pending" },
      { id: "3", pid: 2, state: "pending" },
    ]);
    const tags = bench.cluster.submitted.slice(1).map((key) => bench.cluster.plans.get(key)!.spec.tags);
    expect(tags).toContainEqual([lane.tag]);
    // Of the tokens only those of the two are still good.
    const usable = (await bench.store.listTokens()).filter(({ revoked_at }) => revoked_at === null);
    expect(usable).toHaveLength(2);
  });

  it("at one address, the second started after the first was killed: it keeps what runs, and doubles nothing", async () => {
    const address = "http://login1:7420";
    const { bench, servers, polls } = await twoServers([address, address]);
    const [first, second] = servers;
    first.demands = [demand(11, WHOLE_NODE), demand(12, WHOLE_NODE)];
    await first.start();
    bench.begin("1");
    await polls(1, first);
    first.kill();
    second.demands = first.demands.slice(1);
    await second.start();
    await polls(12, second);
    expect(bench.cluster.submitted).toHaveLength(2);
    expect(bench.cluster.canceled).toEqual([]);
    expect((await liveOf(bench)).sort((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { id: "1", pid: 2, state: "running" },
      { id: "2", pid: 2, state: "pending" },
    ]);
  });
});
