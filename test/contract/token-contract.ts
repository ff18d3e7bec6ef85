import { describe, expect, test } from "vitest";
import type { NewToken } from "../../src/store/token-rows.js";
import type { StoreUnderTest } from "./store-contract.js";

const AT = 1_700_000_000_000;

export function tokenContract(under: StoreUnderTest): void {
  const put = (hash: string, changes: Partial<NewToken> = {}) =>
    under.store.putToken({ name: "ci", role: "operator", hash, at: AT, expiresAt: null, ...changes });

  describe("a token", () => {
    test("is found by its hash, with everything but the hash", async () => {
      const { store } = under;
      const lasting = await put("hash-1");
      const passing = await put("hash-2", {
        name: "だるま 🎎",
        role: "viewer",
        at: AT + 1,
        expiresAt: AT + 9,
      });
      const { id } = passing;
      expect(passing).toEqual({
        ...{ id, name: "だるま 🎎", role: "viewer" },
        ...{ created_at: AT + 1, expires_at: AT + 9, revoked_at: null },
      });
      expect(lasting).toMatchObject({ name: "ci", role: "operator", created_at: AT, expires_at: null });
      expect(await store.findToken("hash-1")).toEqual(lasting);
      expect(await store.findToken("hash-2")).toEqual(passing);
      expect(await store.findToken("hash-3")).toBeNull();
    });

    test("is listed after those that were there before", async () => {
      const tokens = [await put("z"), await put("a"), await put("m")];
      expect(await under.store.listTokens()).toEqual(tokens);
      expect(tokens.map(({ id }) => id)).toEqual(tokens.map(({ id }) => id).sort((a, b) => a - b));
      expect(new Set(tokens.map(({ id }) => id)).size).toBe(3);
      expect(await (await under.reopen()).listTokens()).toEqual(tokens);
    });

    test("of a hash that is there is refused without a word about the hash, revoked or not", async () => {
      const first = await put("hash-1");
      const refusal = { code: "STORE_FAILED", message: "a token with this hash already exists" };
      await expect(put("hash-1", { name: "other" })).rejects.toMatchObject(refusal);
      await under.store.revokeToken(first.id, AT);
      await expect(put("hash-1", { name: "other" })).rejects.toMatchObject(refusal);
      expect(await under.store.listTokens()).toEqual([{ ...first, revoked_at: AT }]);
    });

    test("of one hash is put by one alone of many at once", async () => {
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => put("hash-1")));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await under.store.listTokens()).toHaveLength(1);
    });

    test("is revoked once, keeps that time and leaves the others", async () => {
      const { store } = under;
      const [first, second] = [await put("hash-1"), await put("hash-2")];
      expect(await store.revokeToken(first.id, AT + 5)).toBe(true);
      expect(await store.revokeToken(first.id, AT + 6)).toBe(false);
      expect(await store.findToken("hash-1")).toEqual({ ...first, revoked_at: AT + 5 });
      expect(await store.listTokens()).toEqual([{ ...first, revoked_at: AT + 5 }, second]);
    });

    test("that is not there cannot be revoked", async () => {
      expect(await under.store.revokeToken(404, AT)).toBe(false);
    });

    test("keeps its name to the end, with a sign in place of a NUL or half a character", async () => {
      const token = await put("hash-1", { name: "a\0b\uD800c" });
      expect(token.name).toBe("a\uFFFDb\uFFFDc");
      expect(await under.store.listTokens()).toEqual([token]);
    });
  });

  describe("a session", () => {
    test("is found as its token, which ends with whichever of both ends first", async () => {
      const { store } = under;
      const lasting = await put("hash-1");
      const passing = await put("hash-2", { expiresAt: AT + 5 });
      await store.putSession({ hash: "s1", tokenId: lasting.id, at: AT, expiresAt: AT + 9 });
      await store.putSession({ hash: "s2", tokenId: passing.id, at: AT, expiresAt: AT + 9 });
      expect(await store.findSession("s1")).toEqual({ ...lasting, expires_at: AT + 9 });
      expect(await store.findSession("s2")).toEqual(passing);
      expect(await store.findSession("hash-1")).toBeNull();
      await store.revokeToken(lasting.id, AT + 1);
      expect(await (await under.reopen()).findSession("s1")).toMatchObject({ revoked_at: AT + 1 });
    });

    test("ends alone, and goes once it is over", async () => {
      const { store } = under;
      const { id: tokenId } = await put("hash-1");
      for (const hash of ["s1", "s2"]) await store.putSession({ hash, tokenId, at: AT, expiresAt: AT + 9 });
      await store.endSession("s1");
      await store.endSession("s1");
      expect([await store.findSession("s1"), (await store.findSession("s2"))?.id]).toEqual([null, tokenId]);
      await store.putSession({ hash: "s3", tokenId, at: AT + 9, expiresAt: AT + 20 });
      expect(await store.findSession("s2")).toBeNull();
      expect(await store.listTokens()).toHaveLength(1);
    });
  });
}
