import { describe, expect, it } from "vitest";
import type { Client } from "../operations/client.js";
import { type Change, tellAndGoOn } from "./print-change.js";
import { plainPaint } from "./render/paint.js";
import type { Session } from "./terminal/channel.js";

const CHANGE: Change = {
  ...{ run_id: 3, action: "retry_step", before: "failed", status: "running", changed: [] },
  ...{ reason: "by hand", key: "k", owner: null },
};

/** The text for a change of a run that was created this way. Nothing in this test can continue a run. */
async function told(created: object, change: Partial<Change> = {}, flags = {}): Promise<string> {
  let text = "";
  const channel = {
    ...{ isTerminal: false, paint: plainPaint, width: () => 80, height: () => 24 },
    write: (piece: string) => {
      text += piece;
    },
  };
  const options = { outputDir: "/nowhere", json: false, quiet: false };
  const session = { out: channel, err: channel, options } as unknown as Session;
  const answers: { readonly [name: string]: object } = {
    list_run_events: { items: [{ parent: null, managed: false, options: {}, ...created }] },
    get_run: { status: "running" },
  };
  const client = { call: async (name: string) => answers[name] } as unknown as Client;
  const exitCode = await tellAndGoOn(session, client, { ...CHANGE, ...change }, "done", flags);
  expect(exitCode).toBe(0);
  return text;
}

describe("a decision", () => {
  it("about a run of a server is only recorded", { tags: ["R8"] }, async () => {
    expect(await told({ managed: true })).toBe("done\nrun 3 is a server's: it waits until one is started\n");
  });

  it("about a run that needs its program is only recorded", { tags: ["R10"] }, async () => {
    const created = { options: { program: "/srv/orders.mjs" }, cause: { mark: "key/17", request: null } };
    expect(await told(created)).toBe("done\nrun 3 goes on when /srv/orders.mjs (key 17) starts\n");
    // Starting the program would begin another run.
    const keyless = { options: { program: "/srv/orders.mjs" }, cause: null };
    expect(await told(keyless)).toBe("done\nrun 3 goes on when /srv/orders.mjs calls daruma.resume(3)\n");
  });

  it("is only recorded where somebody runs the run, with --no-resume, and in a dry run", {
    tags: ["R8"],
  }, async () => {
    expect(await told({}, { owner: { host: "h", pid: 7 } })).toBe("done\nprocess 7 continues it\n");
    expect(await told({}, {}, { resume: false })).toMatch(/^done\nnext: daruma resume 3/);
    expect(await told({}, { dry_run: true })).toMatch(/^dry run; nothing changed/);
  });
});
