import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

interface EventLine {
  readonly type: string;
  readonly rung?: string;
  readonly error?: { readonly code: string };
  readonly failureRoute?: { readonly [key: string]: unknown } | null;
}

/** The whole log, one event a line. */
async function eventsOf(run: string | number): Promise<EventLine[]> {
  const { stdout } = await cli.daruma("events", String(run), "--json");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as EventLine);
}

async function fileAppears(file: string): Promise<void> {
  while (!existsSync(file)) await delay(10);
}

describe("daruma cancel", () => {
  it("records the failure that it meets, and that no route was tried for it", async () => {
    const ready = join(cli.path, "ready");
    const onTerm = `trap 'echo "cannot roll back" >&2; exit 7' TERM`;
    const file = cli.write(
      "cancel.yaml",
      `name: cancel
steps:
  deploy: { exec: ${JSON.stringify(`${onTerm}; echo > ${ready}; while :; do sleep 0.02; done`)} }
  fallback: { exec: "true" }
transitions: [{ from: deploy, to: fallback, on: failure }]`,
    );
    const run = cli.start("run", file);
    const [, id] = await run.until(/run (\d+) of cancel started/);
    await fileAppears(ready);
    const canceled = await cli.daruma("cancel", id!, "--reason", "wrong branch");
    expect(canceled).toMatchObject({ exitCode: 0, stdout: `run ${id} is canceled\n` });
    expect(await run.ended).toBe(4);
    expect(run.text).toContain(
      "deploy attempt 1 failed: exit code 7: cannot roll back (EXIT_7, application) — the run is canceled",
    );
    const events = await eventsOf(id!);
    const after = events.slice(events.findIndex(({ type }) => type === "run.cancel_requested"));
    expect(after.map(({ type }) => type)).toEqual([
      "run.cancel_requested",
      "scope.abandoned",
      "attempt.failed",
      "ladder.climbed",
      "jobs.canceled",
      "run.canceled",
    ]);
    expect(after[2]!.error).toMatchObject({ code: "EXIT_7" });
    expect(after[3]).toMatchObject({
      rung: "stop",
      failureRoute: { attempted: false, selectedEdgeId: null, status: "skipped_terminal", considered: [] },
    });
    const { stdout } = await cli.daruma("explain", id!, "deploy");
    expect(stdout).toContain("Attempt 1 failed");
    expect(stdout).toContain("- stop: yes, the run is canceled.");
  });
});
