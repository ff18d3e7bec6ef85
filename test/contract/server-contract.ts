import { describe, expect, test } from "vitest";
import type { StoreUnderTest } from "./store-contract.js";
import { OWNER, RIVAL } from "./store-fixtures.js";

export function serverContract(under: StoreUnderTest): void {
  describe("a server", () => {
    const server = {
      ...{ owner: OWNER, url: "http://login1:7420", settings: "1f", hasLeft: false, expiresAt: 110 },
    };

    test("is listed with what it said last until it is forgotten", async () => {
      const { store } = under;
      await store.keepServer(server, 100);
      const rival = { ...server, owner: RIVAL, url: "http://login2:7420", settings: "2e", expiresAt: 120 };
      await store.keepServer(rival, 100);
      const listed = await store.listServers(100);
      expect(new Set(listed.map(({ seenAt: _, ...each }) => each))).toEqual(new Set([server, rival]));
      const leaving = { ...server, hasLeft: true, expiresAt: 130 };
      await store.keepServer(leaving, 105);
      await store.forgetServer(RIVAL);
      expect(await store.listServers(105)).toEqual([{ ...leaving, seenAt: expect.any(Number) }]);
      const { at } = await store.readShared("server", [], 105);
      expect(at - (await store.listServers(105))[0]!.seenAt).toBeGreaterThanOrEqual(0);
    });

    test("whose time is over is still listed, with an end that lies in the past", async () => {
      await under.store.keepServer(server, 100);
      expect((await under.store.listServers(200)).map(({ expiresAt }) => expiresAt <= 200)).toEqual([true]);
    });
  });
}
