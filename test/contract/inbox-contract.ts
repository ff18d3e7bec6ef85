import { describe, expect, test } from "vitest";
import type { StoreUnderTest } from "./store-contract.js";

export function inboxContract(under: StoreUnderTest): void {
  const send = (runId: number, key: string, command = `{"key":"${key}"}`) =>
    under.store.sendCommand({ runId, key, command, at: 1 });

  describe("the inbox", () => {
    test("gives the unanswered commands of the runs that are asked for, oldest first", async () => {
      const { store } = under;
      const [a, b, c] = [await send(2, "a"), await send(1, "b"), await send(3, "c")];
      const d = await send(2, "d");
      expect(await store.readInbox([1, 2])).toEqual([
        { id: a, runId: 2, command: '{"key":"a"}' },
        { id: b, runId: 1, command: '{"key":"b"}' },
        { id: d, runId: 2, command: '{"key":"d"}' },
      ]);
      expect((await store.readInbox([3])).map(({ id }) => id)).toEqual([c]);
      expect(await store.readInbox([])).toEqual([]);
      expect(await store.readInbox([4])).toEqual([]);
    });

    test("keeps a command once by its key, and the first one's text", async () => {
      const id = await send(1, "k", "first");
      expect(await send(1, "k", "second")).toBe(id);
      expect(await under.store.readInbox([1])).toEqual([{ id, runId: 1, command: "first" }]);
    });

    test("knows a key again after its command was answered", async () => {
      const id = await send(1, "k");
      await under.store.answerCommand(id, "done");
      expect(await send(1, "k")).toBe(id);
      expect(await under.store.readInbox([1])).toEqual([]);
      expect(await under.store.readAnswer(id)).toBe("done");
    });

    test("tells keys apart beyond a character that no store can keep", async () => {
      const id = await send(1, "a\0b", "first");
      expect(await send(1, "a\0b", "first")).toBe(id);
      expect(await send(1, "a\0c", "second")).not.toBe(id);
      expect(await send(1, "a", "third")).not.toBe(id);
      await send(1, "\ud800", "fourth");
    });

    test("takes the same key for two runs as two commands", async () => {
      expect(await send(1, "k")).not.toBe(await send(2, "k"));
    });

    test("has no answer until there is one, and keeps the first", async () => {
      const { store } = under;
      const id = await send(1, "k");
      expect(await store.readAnswer(id)).toBeNull();
      await store.answerCommand(id, "だるま\0!");
      await store.answerCommand(id, "second");
      expect(await store.readAnswer(id)).toBe("だるま\uFFFD!");
      expect(await store.readAnswer(id + 1)).toBeNull();
    });

    test("forgets what a run was sent before a time, answered or not", async () => {
      const { store } = under;
      const put = (runId: number, key: string, at: number) =>
        store.sendCommand({ runId, key, command: "c", at });
      const [old, answered, kept, other] = [
        await put(0, "old", 4),
        await put(0, "answered", 4),
        await put(0, "kept", 5),
        await put(1, "other", 4),
      ];
      await store.answerCommand(answered, "done");
      await store.forgetCommands(0, 5);
      expect((await store.readInbox([0, 1])).map(({ id }) => id)).toEqual([kept, other]);
      expect(await store.readAnswer(answered)).toBeNull();
      expect(await put(0, "old", 6)).not.toBe(old);
    });

    test("does not mind an answer to a command that is not there", async () => {
      await under.store.answerCommand(404, "x");
      expect(await under.store.readAnswer(404)).toBeNull();
    });
  });
}
