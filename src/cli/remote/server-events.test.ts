import { describe, expect, it } from "vitest";
import { readServerEvents, type ServerEvent } from "./server-events.js";

async function* bytes(text: string, size: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

async function read(text: string, size = 1_000): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readServerEvents(bytes(text, size))) events.push(event);
  return events;
}

describe("server-sent events", () => {
  const TEXT =
    'retry: 2000\n\nid: 7\nevent: run.created\ndata: {"é": 1}\n\n: still there\n\nid: 8\ndata:x\ndata: y\r\n\r\n';

  it("are read whole, however the bytes are cut", async () => {
    const events = [
      { id: "7", event: "run.created", data: '{"é": 1}' },
      { id: "8", event: "message", data: "x\ny" },
    ];
    for (const size of [1, 2, 3, 7, 1_000]) expect(await read(TEXT, size)).toEqual(events);
  });

  it("that are cut off are dropped", async () => {
    expect(await read("id: 1\ndata: a\n\nid: 2\ndata: b\n")).toEqual([
      { id: "1", event: "message", data: "a" },
    ]);
  });

  it("without data are no events", async () => {
    expect(await read("event: x\nid: 3\n\n")).toEqual([]);
  });
});
