import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { assignment } from "../../../test/support/pool-bench.js";
import { createCommandAction } from "../action/command.js";
import { systemClock } from "../engine/clock.js";
import { createProcessHost } from "../process/create-process-host.js";
import { LocalWorker } from "./local-worker.js";

/** How often what a step wrote cannot be opened yet. */
const scarce = vi.hoisted(() => ({ times: 0 }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const openSync = (...how: Parameters<typeof real.openSync>) => {
    if (scarce.times === 0 || !/\.(output|failure)$/.test(String(how[0]))) return real.openSync(...how);
    scarce.times -= 1;
    throw Object.assign(new Error("EMFILE: too many open files, open"), { code: "EMFILE" });
  };
  return { ...real, openSync };
});

const folder = mkdtempSync(join(tmpdir(), "daruma-unread-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  [`echo '{"kept":true}' > "$DARUMA_OUTPUT"`, { kind: "succeeded", output: { value: { kept: true } } }],
  [
    `echo '{"code":"QUOTA"}' > "$DARUMA_FAILURE"; exit 3`,
    { kind: "failed", facts: { exitCode: 3, declared: { code: "QUOTA" } } },
  ],
])(
  "what a command left is read once there is a file descriptor, and it runs once: %s",
  async (line, left) => {
    scarce.times = 2;
    const effects = join(folder, "effects");
    rmSync(effects, { force: true });
    const processes = createProcessHost();
    const actions = [createCommandAction(processes)];
    const worker = new LocalWorker({ actions, outputDir: folder, clock: systemClock });
    const given = assignment({ action: { type: "command", exec: `echo done >> ${effects}; ${line}` } });
    const outcome = await worker.run(given, null, new AbortController().signal);
    await Promise.all([worker.close(), processes.close()]);
    expect(outcome).toMatchObject(left);
    expect([readFileSync(effects, "utf8"), scarce.times]).toEqual(["done\n", 0]);
  },
);
