import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, it } from "vitest";
import { type CliResult, runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";
import { fileAppears } from "../support/file-appears.js";

const cli = new CliFolder();
const NOOPS = 500;
/** Two events of each noop every time: just enough for a snapshot. */
const ROUNDS = 22;
const TIMEOUT_MS = 300_000;

/** Goes back to its first step again and again; its last one waits for the file `go`. */
function longRun(): string {
  const waits = `until test -e ${join(cli.path, "go")}; do sleep 0.1; done`;
  const noops = Array.from({ length: NOOPS }, (_, index) => `n${index}`);
  return JSON.stringify({
    name: "long",
    routing: { max_loops: ROUNDS },
    steps: {
      first: { type: "noop" },
      ...Object.fromEntries(noops.map((id) => [id, { type: "noop", depends_on: ["first"] }])),
      again: { type: "noop", depends_on: noops, on_success: { goto: { step: "first", max: ROUNDS - 1 } } },
      last: { type: "command", exec: waits, depends_on: ["again"] },
    },
  });
}

/** In the store of this folder. */
function ask<Row>(outputDir: string, sql: string): Row[] {
  const db = new DatabaseSync(join(outputDir, "daruma.db"));
  try {
    db.exec("PRAGMA busy_timeout = 60000");
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

const SNAPSHOTS = "SELECT seq, length(bytes) AS size FROM snapshot";
const resume = (outputDir: string): Promise<CliResult> =>
  runCli(["resume", "1", "--quiet", "--output-dir", outputDir]);

it(
  "a killed run of 20,000 events goes on from its snapshot without its early events, and from them if it is damaged",
  async () => {
    const running = cli.start("run", cli.write("long.json", longRun()), "--quiet");
    const store = join(cli.outputDir, "daruma.db");
    const found = async (): Promise<{ seq: number; size: number }> => {
      for (;;) {
        const hasTable = ask(cli.outputDir, "SELECT 1 FROM sqlite_schema WHERE name = 'snapshot'").length > 0;
        const [snapshot] = hasTable ? ask<{ seq: number; size: number }>(cli.outputDir, SNAPSHOTS) : [];
        if (snapshot !== undefined) return snapshot;
        await delay(100);
      }
    };
    await fileAppears(store);
    const { seq, size } = await found();
    running.kill("SIGKILL");
    await running.ended;
    expect(seq).toBeGreaterThanOrEqual(20_000);
    expect(size).toBeLessThan(1_000_000);
    const [damaged, without] = [join(cli.path, "damaged"), join(cli.path, "without")];
    cpSync(cli.outputDir, damaged, { recursive: true });
    cpSync(cli.outputDir, without, { recursive: true });
    writeFileSync(join(cli.path, "go"), "");

    ask(damaged, "UPDATE snapshot SET bytes = zeroblob(length(bytes))");
    expect((await resume(damaged)).exitCode).toBe(0);

    for (const folder of [cli.outputDir, without])
      ask(folder, "UPDATE event SET data = '{' WHERE seq = 9 AND run_id = 1");
    ask(without, "DELETE FROM snapshot");
    const refused = await resume(without);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain("STORE_DAMAGED");

    expect((await resume(cli.outputDir)).exitCode).toBe(0);
    const ends = "SELECT status, count(*) AS jobs FROM job GROUP BY status";
    expect(ask(cli.outputDir, ends)).toEqual([{ status: "completed", jobs: NOOPS + 3 }]);
    expect(ask(damaged, ends)).toEqual([{ status: "completed", jobs: NOOPS + 3 }]);
  },
  TIMEOUT_MS,
);
