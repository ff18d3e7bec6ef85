import { describe, expect, test } from "vitest";
import type { NewWorkflow, WorkflowFilter } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import { newWorkflow } from "./store-fixtures.js";

const SOURCE = "name: release # だるま 🎎\r\nsteps: []\n";

export function workflowContract(under: StoreUnderTest): void {
  const register = async (changes: Partial<NewWorkflow>) =>
    (await under.store.registerWorkflow(newWorkflow(changes))).workflowId;

  listedWorkflows(under, register);
  sources(under, register);
}

type Register = (changes: Partial<NewWorkflow>) => Promise<number>;

function listedWorkflows(under: StoreUnderTest, register: Register): void {
  const list = async (filter: WorkflowFilter) =>
    (await under.store.listWorkflows(filter)).map(({ id }) => id);

  /** Versions 1 to 3 of "a", 1 and 2 of "b", 1 of "c", so that the newest of "a" is younger than that of "b". */
  async function fill(): Promise<number[]> {
    const ids: number[] = [];
    for (const [name, hash] of ["a1", "b1", "a2", "c1", "b2", "a3"].map((word) => [word[0], word])) {
      ids.push(await register({ name: name as string, hash: hash as string }));
    }
    return ids;
  }

  describe("versions of workflows", () => {
    test("are read whole by their ids", async () => {
      await register({ name: "other", hash: "h0" });
      const id = await register({ hash: "h2", file: null, at: 1_700_000_000_000, source: SOURCE });
      const row = {
        ...{ id, name: "release", version: 1, definition_hash: "h2" },
        ...{ file: null, created_at: 1_700_000_000_000, source: SOURCE },
      };
      expect(await under.store.readWorkflow(id)).toEqual(row);
      expect(await under.store.listWorkflows({ name: "release" })).toEqual([row]);
      expect(await (await under.reopen()).readWorkflow(id)).toEqual(row);
    });

    test("that are not there are not found", async () => {
      expect(await under.store.readWorkflow(1)).toBeNull();
      expect(await under.store.listWorkflows({})).toEqual([]);
      expect(await under.store.listWorkflows({ name: "release" })).toEqual([]);
    });

    test("are listed newest first, one for each name", async () => {
      const [, , , c1, b2, a3] = await fill();
      expect(await list({})).toEqual([a3, b2, c1]);
      // An older version that is registered again is no newer for it.
      await register({ name: "a", hash: "a1" });
      expect(await list({})).toEqual([a3, b2, c1]);
    });

    test("of one name are listed as the newest published one, whatever runs have registered since", async () => {
      const published = await register({ name: "a", hash: "a1", source: SOURCE });
      const newer = await register({ name: "a", hash: "a2" });
      expect(await list({})).toEqual([published]);
      expect(await list({ name: "a" })).toEqual([newer, published]);
      const last = await register({ name: "a", hash: "a3", source: SOURCE });
      expect(await list({})).toEqual([last]);
    });

    test("of one name are all listed, newest first", async () => {
      const [a1, b1, a2, , b2, a3] = await fill();
      expect(await list({ name: "a" })).toEqual([a3, a2, a1]);
      expect(await list({ name: "b" })).toEqual([b2, b1]);
      expect(await list({ name: "none" })).toEqual([]);
    });

    test("are read page by page, and a page shows no older version in place of one that came before it", async () => {
      const [a1, , a2, c1, b2, a3] = await fill();
      expect(await list({ limit: 2 })).toEqual([a3, b2]);
      expect(await list({ limit: 2, beforeId: b2 as number })).toEqual([c1]);
      expect(await list({ limit: 0 })).toEqual([]);
      expect(await list({ name: "a", limit: 1 })).toEqual([a3]);
      expect(await list({ name: "a", limit: 1, beforeId: a3 as number })).toEqual([a2]);
      expect(await list({ name: "a", beforeId: a2 as number })).toEqual([a1]);
    });
  });
}

function sources(under: StoreUnderTest, register: Register): void {
  const sourceOf = async (id: number) => (await under.store.readWorkflow(id))?.source;

  describe("the text of a workflow", () => {
    test("is null where none was given", async () => {
      expect(await sourceOf(await register({}))).toBeNull();
    });

    test("that comes later is kept, and one that is there stays", async () => {
      const id = await register({});
      expect(await register({ source: SOURCE })).toBe(id);
      expect(await sourceOf(id)).toBe(SOURCE);
      await register({ source: "other" });
      await register({});
      expect(await sourceOf(id)).toBe(SOURCE);
    });

    test("that it was read from is kept with its definition, once, whoever registers it", async () => {
      const read = (hash: string) => under.store.readWritten(hash);
      expect(await read("h1")).toBeNull();
      await register({});
      expect(await read("h1")).toBeNull();
      await register({ written: `${SOURCE}\0` });
      await register({ written: "other", name: "deploy" });
      await register({ hash: "h2", written: "second" });
      expect(await read("h1")).toBe(`${SOURCE}\uFFFD`);
      // It is no text that somebody has published.
      expect((await under.store.listWorkflows({ name: "release" })).map(({ source }) => source)).toEqual([
        null,
        null,
      ]);
      expect(await (await under.reopen()).readWritten("h2")).toBe("second");
    });

    test("belongs to one version of one name", async () => {
      const ids = [await register({}), await register({ hash: "h2" }), await register({ name: "deploy" })];
      await register({ hash: "h2", source: SOURCE });
      expect(await Promise.all(ids.map(sourceOf))).toEqual([null, SOURCE, null]);
    });

    test("with a NUL or half a character is kept to its end, with a sign in their place", async () => {
      expect(await sourceOf(await register({ source: "a\0b\uD800c" }))).toBe("a\uFFFDb\uFFFDc");
      const later = await register({ name: "deploy" });
      await register({ name: "deploy", source: "a\0b" });
      expect(await sourceOf(later)).toBe("a\uFFFDb");
    });
  });
}
