import { describe, expect, test } from "vitest";
import type { SharedRow } from "../../src/store/shared-rows.js";
import type { StoreChange } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";

const AT = 1_700_000_000_000;

function row(name: string, revision: number, changes: Partial<SharedRow> = {}): SharedRow {
  return { kind: "breaker", name, revision, data: JSON.stringify({ name, だるま: revision }), ...changes };
}

export function sharedContract(under: StoreUnderTest): void {
  const rowsOf = async (kind: string, names: readonly string[] | null = null, store = under.store) =>
    (await store.readShared(kind, names, AT)).rows;

  describe("rows that runs share", () => {
    test("are kept by kind and name, also when the store is opened again", async () => {
      const { store } = under;
      expect(await store.readShared("breaker", null, AT)).toEqual({ rows: [], at: AT });
      expect(await store.writeShared([row("b", 0), row("a", 0), row("a", 0, { kind: "other" })])).toBe(true);
      expect(await rowsOf("breaker")).toEqual([
        row("a", 1, { data: row("a", 0).data }),
        { ...row("b", 0), revision: 1 },
      ]);
      expect(await rowsOf("breaker", ["b", "c"])).toEqual([{ ...row("b", 0), revision: 1 }]);
      expect(await rowsOf("breaker", [])).toEqual([]);
      const again = await under.reopen();
      expect((await rowsOf("breaker", null, again)).map(({ name }) => name)).toEqual(["a", "b"]);
      expect(await rowsOf("other", null, again)).toEqual([
        { ...row("a", 0, { kind: "other" }), revision: 1 },
      ]);
    });

    test("are changed by one alone of those who read them at once", async () => {
      const { store } = under;
      await store.writeShared([row("a", 0)]);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => store.writeShared([row("a", 1, { data: String(n) })])),
      );
      expect(outcomes.filter((isWritten) => isWritten)).toHaveLength(1);
      const [{ revision, data }] = (await rowsOf("breaker")) as [SharedRow];
      expect([revision, data]).toEqual([2, String(outcomes.indexOf(true))]);
    });

    test("are made by one alone of those who find none", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => under.store.writeShared([row("a", 0, { data: String(n) })])),
      );
      expect(outcomes.filter((isWritten) => isWritten)).toHaveLength(1);
    });

    test("are written all or not at all", async () => {
      const { store } = under;
      await store.writeShared([row("a", 0), row("b", 0)]);
      await store.writeShared([row("b", 1)]);
      expect(await store.writeShared([row("a", 1, { data: "x" }), row("b", 1, { data: "x" })])).toBe(false);
      expect(await store.writeShared([row("a", 1, { data: "x" }), row("c", 4, { data: "x" })])).toBe(false);
      expect(
        (await rowsOf("breaker")).map(({ name, revision, data }) => [name, revision, data === "x"]),
      ).toEqual([
        ["a", 1, false],
        ["b", 2, false],
      ]);
      expect(await store.writeShared([row("a", 1, { data: "x" }), row("b", 2, { data: "x" })])).toBe(true);
    });

    test("are announced where they change, and only there", async () => {
      const { store } = under;
      const heard: StoreChange[] = [];
      store.onChange((change) => heard.push(change));
      await store.writeShared([row("a", 0)]);
      expect(heard).toEqual([{ kind: "shared", runId: 0 }]);
      await store.writeShared([row("a", 0)]);
      expect(heard).toHaveLength(1);
    });
  });
}
