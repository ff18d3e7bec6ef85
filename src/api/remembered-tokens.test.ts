import { describe, expect, it, vi } from "vitest";
import { DarumaError } from "../core/errors/errors.js";
import { createMemoryStore } from "../store/memory/memory-store.js";
import { RememberedTokens } from "./authenticate.js";
import { MAX_REMEMBERED_TOKENS, TOKEN_FRESH_MS, TOKEN_STALE_MS } from "./limits.js";

/** A store that counts look-ups and can be made unavailable: failing at once, or never answering. */
async function remembered(tokens: readonly string[] = ["h"]) {
  const store = createMemoryStore();
  for (const hash of tokens)
    await store.putToken({ name: hash, role: "viewer", hash, at: 1, expiresAt: null });
  const clock = { now: 0 };
  const state: { away: "failing" | "silent" | null; asked: number } = { away: null, asked: 0 };
  const unlessAway = async <T>(ask: () => Promise<T>): Promise<T> => {
    state.asked += 1;
    if (state.away === "failing") throw new DarumaError("STORE_FAILED", "away");
    return state.away === "silent" ? new Promise<T>(() => {}) : ask();
  };
  const memory = new RememberedTokens(
    {
      findToken: (hash) => unlessAway(() => store.findToken(hash)),
      findSession: (hash) => unlessAway(() => store.findSession(hash)),
      listTokens: () => unlessAway(() => store.listTokens()),
      onChange: (listener) => store.onChange(listener),
    },
    () => clock.now,
  );
  return { memory, store, clock, state };
}

describe("a token that was looked up", () => {
  it("is not looked up again for half a minute, then it is", async () => {
    const { memory, clock, state } = await remembered();
    const found = await memory.find("h");
    expect(found).toMatchObject({ name: "h" });
    clock.now = TOKEN_FRESH_MS - 1;
    expect(await memory.find("h")).toEqual(found);
    expect(state.asked).toBe(1);
    clock.now = TOKEN_FRESH_MS;
    expect(await memory.find("h")).toEqual(found);
    expect(state.asked).toBe(2);
  });

  it.each(["failing", "silent"] as const)(
    "goes on to count for minutes while the store is %s, and no longer",
    async (away) => {
      const { memory, clock, state } = await remembered();
      await memory.find("h");
      state.away = away;
      clock.now = TOKEN_STALE_MS - 1;
      expect(await memory.find("h")).toMatchObject({ name: "h" });
      if (away === "silent") return;
      clock.now = TOKEN_STALE_MS;
      await expect(memory.find("h")).rejects.toMatchObject({ code: "STORE_FAILED" });
    },
  );

  it("is asked for once by all who need it at a time", async () => {
    const { memory, clock, state } = await remembered();
    await memory.find("h");
    clock.now = TOKEN_FRESH_MS;
    state.away = "silent";
    await Promise.all(Array.from({ length: 20 }, () => memory.find("h")));
    expect(state.asked).toBe(2);
  });

  it("ends at once when it is revoked here", async () => {
    const { memory, store } = await remembered();
    const found = await memory.find("h");
    await store.revokeToken(found!.id, 5);
    expect(await memory.find("h")).toMatchObject({ revoked_at: 5 });
    expect(await memory.find("h")).toMatchObject({ revoked_at: 5 });
  });

  it("ends when it is looked up next where nobody told of its end", async () => {
    const { memory, store, clock, state } = await remembered();
    const found = await memory.find("h");
    await store.reopen().revokeToken(found!.id, 5);
    clock.now = TOKEN_FRESH_MS;
    expect(await memory.find("h")).toMatchObject({ revoked_at: 5 });
    state.away = "failing";
    await expect(memory.find("h")).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it("is not remembered from an answer that was on its way when something was revoked", async () => {
    const { memory, store, clock, state } = await remembered(["h", "other"]);
    const other = await store.findToken("other");
    const looked = memory.find("h");
    await store.revokeToken(other!.id, 5);
    await looked;
    clock.now = 1;
    const { asked } = state;
    await memory.find("h");
    expect(state.asked).toBe(asked + 1);
  });
});

describe("what is remembered", () => {
  it("leaves out what the store does not know", async () => {
    const { memory, store } = await remembered();
    expect(await memory.find("new")).toBeNull();
    await store.putToken({ name: "new", role: "viewer", hash: "new", at: 1, expiresAt: null });
    expect(await memory.find("new")).toMatchObject({ name: "new" });
  });

  it("has a limit: the ones looked up longest ago go first", async () => {
    const findToken = vi.fn(async (hash: string) => ({ ...ROW, name: hash }));
    const others = { findSession: async () => null, listTokens: async () => [], onChange: () => () => {} };
    const memory = new RememberedTokens({ findToken, ...others });
    for (let n = 0; n <= MAX_REMEMBERED_TOKENS; n += 1) await memory.find(String(n));
    findToken.mockClear();
    await memory.find("1");
    expect(findToken).not.toHaveBeenCalled();
    await memory.find("0");
    expect(findToken).toHaveBeenCalledTimes(1);
  });

  it("says whether there is any token: a yes for good, a no only until it is asked next", async () => {
    const { memory, store, state } = await remembered([]);
    expect(await memory.areThere()).toBe(false);
    state.away = "failing";
    expect(await memory.areThere()).toBe(false);
    state.away = null;
    await store.putToken({ name: "h", role: "viewer", hash: "h", at: 1, expiresAt: null });
    expect(await memory.areThere()).toBe(true);
    const { asked } = state;
    expect(await memory.areThere()).toBe(true);
    expect(state.asked).toBe(asked);
  });

  it("lets those who ask very often have a no that is a moment old", async () => {
    const { memory, store, clock, state } = await remembered([]);
    expect(await memory.areThere(1_000)).toBe(false);
    await store.putToken({ name: "h", role: "viewer", hash: "h", at: 1, expiresAt: null });
    clock.now = 999;
    expect([await memory.areThere(1_000), state.asked]).toEqual([false, 1]);
    clock.now = 1_000;
    expect([await memory.areThere(1_000), state.asked]).toEqual([true, 2]);
  });
});

const ROW = { id: 1, role: "viewer", created_at: 1, expires_at: null, revoked_at: null };
