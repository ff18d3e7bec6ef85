import { describe, expect, test } from "vitest";
import type { DraftRow } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";

const AT = 1_700_000_000_000;

export function draftContract(under: StoreUnderTest): void {
  const save = (name: string, source: string, basedOn: number | null, at = AT) =>
    under.store.saveDraft({ name, source, basedOn, at });
  const row = (name: string, source: string, revision: number, updated_at = AT): DraftRow => ({
    ...{ name, source, revision, updated_at },
  });

  describe("a draft", () => {
    test("starts with revision 1 and gets the next with each save on the present one", async () => {
      expect(await save("a", "one", 0)).toEqual({ saved: true, draft: row("a", "one", 1) });
      expect(await save("a", "two", 1, AT + 5)).toEqual({ saved: true, draft: row("a", "two", 2, AT + 5) });
      expect(await under.store.readDraft("a")).toEqual(row("a", "two", 2, AT + 5));
    });

    test("is not saved on a revision that is no longer the present one, and shows what is there", async () => {
      await save("a", "one", 0);
      await save("a", "two", 1);
      for (const basedOn of [0, 1, 3]) {
        expect(await save("a", "late", basedOn)).toEqual({ saved: false, draft: row("a", "two", 2) });
      }
      expect(await under.store.readDraft("a")).toEqual(row("a", "two", 2));
    });

    test("that is not there takes no save on a revision", async () => {
      expect(await save("a", "late", 1)).toEqual({ saved: false, draft: null });
      expect(await under.store.readDraft("a")).toBeNull();
    });

    test("is replaced whatever is there if nothing is said of a revision", async () => {
      expect(await save("a", "one", null)).toEqual({ saved: true, draft: row("a", "one", 1) });
      expect(await save("a", "two", null)).toEqual({ saved: true, draft: row("a", "two", 2) });
    });

    test("is saved by one alone of many who start from the same revision at once", async () => {
      await save("a", "one", 0);
      const texts = Array.from({ length: 10 }, (_, i) => `text ${i}`);
      const answers = await Promise.all(texts.map((text) => save("a", text, 1)));
      const saved = answers.filter((answer) => answer.saved);
      expect(saved).toHaveLength(1);
      expect(await under.store.readDraft("a")).toEqual(saved[0]?.draft);
    });

    test("is created by one alone of many who find none at once", async () => {
      const texts = Array.from({ length: 10 }, (_, i) => `text ${i}`);
      const answers = await Promise.all(texts.map((text) => save("a", text, 0)));
      const saved = answers.filter((answer) => answer.saved);
      expect(saved).toHaveLength(1);
      expect(await under.store.readDraft("a")).toEqual(saved[0]?.draft);
    });

    test("is gone once it is deleted, and starts anew", async () => {
      await save("a", "one", 0);
      await save("b", "other", 0);
      await under.store.deleteDraft("a");
      await under.store.deleteDraft("never there");
      expect(await under.store.readDraft("a")).toBeNull();
      expect(await under.store.listDrafts()).toEqual([row("b", "other", 1)]);
      expect(await save("a", "again", 0)).toMatchObject({ saved: true, draft: { revision: 1 } });
    });

    test("is listed among the others by name, in the order of their characters", async () => {
      for (const name of ["b", "a-b", "B", "ab", "a"]) await save(name, `text of ${name}`, 0);
      const drafts = await under.store.listDrafts();
      expect(drafts).toEqual(["B", "a", "a-b", "ab", "b"].map((name) => row(name, `text of ${name}`, 1)));
      expect(await (await under.reopen()).listDrafts()).toEqual(drafts);
    });

    test("keeps its text to the end, with a sign in place of a NUL or half a character", async () => {
      const { draft } = await save("a", "だるま\0 🎎\r\n\uD800end", 0);
      expect(draft?.source).toBe("だるま\uFFFD 🎎\r\n\uFFFDend");
      expect(await under.store.readDraft("a")).toEqual(draft);
    });
  });
}
