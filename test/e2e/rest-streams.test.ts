import { writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { EventReader } from "../support/event-source.js";
import { LiveServers } from "../support/live-server.js";

const servers = new LiveServers();

const TEN_STEPS = `
name: ten
steps:
${Array.from({ length: 10 }, (_, n) => `  s${n}: { type: command, exec: "echo ${n}"${n === 0 ? "" : `, depends_on: [s${n - 1}]`} }`).join("\n")}
`;

const seqs = (readers: readonly EventReader[]) =>
  readers.flatMap(({ events }) => events.flatMap(({ id }) => (id === null ? [] : [Number(id)])));

describe("the event stream of a run", () => {
  it("loses and repeats nothing, however often its reader is cut off and goes on", async () => {
    const server = await servers.start();
    const run = await server.run(TEN_STEPS);
    const readers: EventReader[] = [];
    for (let last: string | null = null; ; ) {
      const reader = await EventReader.open(
        `${server.url}/api/v1/runs/${run}/events`,
        last === null ? {} : { "last-event-id": last },
      );
      readers.push(reader);
      const isOver = (): boolean => reader.events.some(({ event }) => event === "end");
      await reader.until(() => isOver() || reader.events.length >= 3);
      reader.close();
      await reader.ended;
      last = reader.lastId ?? last;
      if (isOver()) break;
    }
    const log = await server.running.store.readEvents(run);
    expect(readers.length).toBeGreaterThan(3);
    expect(seqs(readers)).toEqual(log.map(({ seq }) => seq));
    const types = readers
      .flatMap(({ events }) => events.map(({ event }) => event))
      .filter((type) => type !== "end");
    expect(types).toEqual(log.map(({ event }) => event.type));
  });

  it("never tells the token that marks an attempt's processes", async () => {
    const server = await servers.start();
    const run = await server.run(TEN_STEPS);
    const reader = await EventReader.open(`${server.url}/api/v1/runs/${run}/events?follow=true`, {
      accept: "*/*",
    });
    await reader.ended;
    const told = JSON.stringify(reader.events);
    const tokens = (await server.running.store.readEvents(run)).flatMap(({ event }) =>
      "token" in event && typeof event.token === "string" ? [event.token] : [],
    );
    expect(tokens.length).toBeGreaterThan(5);
    for (const token of tokens) expect(told).not.toContain(token);
  });

  it("of a run that is not there is a 404, and a broken place in it a 422", async () => {
    const server = await servers.start();
    const ask = async (path: string, headers = {}) =>
      (await EventReader.open(`${server.url}/api/v1${path}`, headers)).status;
    expect(await ask("/runs/99/events")).toBe(404);
    const run = await server.run(TEN_STEPS);
    expect(await ask(`/runs/${run}/events`, { "last-event-id": "x" })).toBe(422);
    expect(await ask("/events", { "last-event-id": "1.2.3" })).toBe(422);
  });
});

describe("the event stream of all runs", () => {
  it("tells every event of every run once, over cuts and new runs", async () => {
    const server = await servers.start();
    const url = `${server.url}/api/v1/events`;
    const start = await server.ask<{ next: string }>("GET", "/api/v1/events");
    const runs = [await server.run(TEN_STEPS), await server.run(TEN_STEPS)];
    const seen: string[] = [];
    let last = start.body.next;
    const readSome = async (least: number): Promise<void> => {
      const reader = await EventReader.open(url, { "last-event-id": last });
      await reader.until(() => reader.events.length >= least);
      reader.close();
      await reader.ended;
      for (const { data, event } of reader.events) {
        const { run_id, seq } = data as { run_id: number; seq: number };
        seen.push(`${run_id}:${seq} ${event}`);
      }
      last = reader.lastId ?? last;
    };
    await readSome(5);
    runs.push(await server.run(TEN_STEPS));
    await readSome(20);
    for (const run of runs) await server.until(run, "completed");
    const logs = await Promise.all(
      runs.map(async (run) =>
        (await server.running.store.readEvents(run)).map(({ seq, event }) => `${run}:${seq} ${event.type}`),
      ),
    );
    const all = logs.flat();
    while (seen.length < all.length) await readSome(1);
    expect(seen.toSorted()).toEqual(all.toSorted());
  });
});

describe("the log of an attempt", () => {
  it("can be followed as plain text while it is written, and ends with the attempt", async () => {
    const server = await servers.start();
    const gate = `${server.outputDir}/go`;
    const run = await server.run(
      `name: talk\nsteps: { say: { type: command, exec: "echo first; while [ ! -e ${gate} ]; do sleep 0.02; done; echo second" } }`,
    );
    await server.until(run, "running");
    const job = await server.job(run, "say");
    while ((await server.running.store.readAttempts(run)).length === 0);
    // On a connection of its own: the server may close one that was kept while this process had no time for it.
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${server.url}/api/v1/jobs/${job}/logs?follow=true`, { agent: false }, resolve).on("error", reject);
    });
    expect(response.headers["content-type"]).toBe("text/plain; charset=utf-8");
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) {
      text += chunk;
      if (text === "first\n") writeFileSync(gate, "");
    }
    expect(text).toBe("first\nsecond\n");
  });
});
