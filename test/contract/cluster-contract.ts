import { describe, expect, test } from "vitest";
import type { AllocationRow, ClusterRow } from "../../src/store/cluster-rows.js";
import type { StoreUnderTest } from "./store-contract.js";
import { OWNER } from "./store-fixtures.js";

const AT = 1_700_000_000_000;
const NEW: ClusterRow = {
  ...{ name: "hpc", revision: 0, suspended: null, failures: 0 },
  ...{ retry_at: null, submitted_at: null, excluded: [] },
};

function allocation(key: string, changes: Partial<AllocationRow> = {}): AllocationRow {
  return {
    ...{ key, cluster: "hpc", id: null, restart: 0, state: "planned" },
    shape: { nodes: 1, cpus: 4, memoryBytes: 2 ** 33, gpus: 0, runtimeMs: 3_600_000 },
    ...{ tags: ["hpc", "だるま"], job_id: null, reason: "3 jobs wait", server: "http://login1:7420" },
    ...{ owner: OWNER, token_id: 7, folder: "/shared/x", nodes: [], cancel: null },
    ...{ created_at: AT, submitted_at: null, started_at: null, pilot_at: null, unknown_since: null },
    ...{ ended_at: null, outcome: null },
    ...changes,
  };
}

export function clusterContract(under: StoreUnderTest): void {
  describe("a cluster", () => {
    test("that nobody has written is new, and is in no list", async () => {
      expect(await under.store.readCluster("hpc")).toEqual({ cluster: NEW, allocations: [] });
      expect(await under.store.listClusters()).toEqual([]);
    });

    test("keeps all that was written of it and of its allocations, also when it is opened again", async () => {
      const cluster: ClusterRow = {
        ...NEW,
        suspended: { kind: "no_pilot", message: "3 allocations without a worker", at: AT },
        ...{ failures: 3, retry_at: AT + 1, submitted_at: AT },
        excluded: [{ node: "node1", until: AT + 5, reason: "attempts fail at once" }],
      };
      const rows = [
        allocation("daruma-a"),
        allocation("daruma-b", {
          ...{ id: "123_4", restart: 2, state: "running", job_id: 20_000_007, nodes: ["node1", "node2"] },
          ...{ cancel: "drain", submitted_at: AT + 1, started_at: AT + 2, pilot_at: AT + 3 },
          ...{ unknown_since: AT + 4, created_at: AT + 1, token_id: null },
        }),
      ];
      expect(await under.store.writeCluster({ cluster, allocations: rows })).toBe(true);
      const written = { cluster: { ...cluster, revision: 1 }, allocations: rows };
      expect(await under.store.readCluster("hpc")).toEqual(written);
      const again = await under.reopen();
      expect(await again.readCluster("hpc")).toEqual(written);
      expect(await again.listClusters()).toEqual([written.cluster]);
      expect(await again.readAllocation("daruma-b")).toEqual(rows[1]);
      expect(await again.readAllocation("daruma-c")).toBeNull();
    });

    test("is changed by one alone of those who read it at once, with all of its rows or none", async () => {
      const { store } = under;
      expect(await store.writeCluster({ cluster: NEW, allocations: [] })).toBe(true);
      const { cluster } = await store.readCluster("hpc");
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          store.writeCluster({
            cluster: { ...cluster, failures: at },
            allocations: [allocation(`daruma-${at}`)],
          }),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const winner = outcomes.indexOf(true);
      expect(await store.readCluster("hpc")).toEqual({
        cluster: { ...cluster, failures: winner, revision: 2 },
        allocations: [allocation(`daruma-${winner}`)],
      });
    });

    test("is made by one alone of those who found none", async () => {
      const { store } = under;
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => store.writeCluster({ cluster: NEW, allocations: [] })),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    test("shows its allocations until they have ended; a list has them all, newest first", async () => {
      const { store } = under;
      const [old, young] = [allocation("daruma-a"), allocation("daruma-b", { created_at: AT + 1 })];
      const elsewhere = allocation("daruma-c", { cluster: "sge", created_at: AT + 2 });
      await store.writeCluster({ cluster: NEW, allocations: [young, old] });
      await store.writeCluster({ cluster: { ...NEW, name: "sge" }, allocations: [elsewhere] });
      expect((await store.readCluster("hpc")).allocations).toEqual([old, young]);
      const { cluster } = await store.readCluster("hpc");
      const ended: AllocationRow = {
        ...old,
        ...{ state: "ended", ended_at: AT + 9, outcome: { code: "DRAINED", message: "a \u0000 sign" } },
      };
      await store.writeCluster({ cluster, allocations: [ended] });
      expect((await store.readCluster("hpc")).allocations).toEqual([young]);
      expect(await store.listAllocations({})).toEqual([elsewhere, young, ended]);
      expect(await store.listAllocations({ cluster: "hpc" })).toEqual([young, ended]);
      expect(await store.listAllocations({ live: true, limit: 1 })).toEqual([elsewhere]);
    });
  });

  describe("what has ended", () => {
    test("is deleted by key and id, and nothing else; the id of a token never comes again", async () => {
      const { store } = under;
      const rows = [allocation("daruma-a", { state: "ended" }), allocation("daruma-b")];
      await store.writeCluster({ cluster: NEW, allocations: rows });
      const put = (hash: string) =>
        store.putToken({ name: "x", role: "worker", hash, at: AT, expiresAt: null });
      const [first, second] = [await put("a"), await put("b")];
      await store.deleteEnded({ allocations: ["daruma-a", "daruma-z"], tokens: [second.id, 999] });
      expect((await store.listAllocations({})).map(({ key }) => key)).toEqual(["daruma-b"]);
      expect((await store.listTokens()).map(({ id }) => id)).toEqual([first.id]);
      expect(await store.findToken("b")).toBeNull();
      expect((await put("c")).id).toBeGreaterThan(second.id);
      expect(await store.revokeToken(first.id, AT)).toBe(true);
      await store.deleteEnded({ allocations: [], tokens: [] });
      expect(await store.listTokens()).toHaveLength(2);
    });
  });
}
