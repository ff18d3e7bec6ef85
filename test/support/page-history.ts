import { join } from "node:path";
import { openDatabase } from "../../src/store/sqlite/file/open-database.js";
import type { LiveServer } from "./live-server.js";

const DAYS = 27;
const DAY_MS = 86_400_000;

const AT_ONCE = "name: docs\nsteps: { build: { type: noop } }";
const RESCUED = `
name: release-train
steps:
  deps:
    exec: '[ "$DARUMA_ATTEMPT_ID" -ge 2 ] || { echo "503 Service Unavailable - GET registry/esbuild" >&2; exit 75; }'
    on_fail: { retry: { max: 3, backoff: { delay_ms: 1 } } }
`;
const MENDED = `
name: crawl-index
steps:
  crawl:
    exec: '[ "$DARUMA_ATTEMPT_ID" -ge 3 ] || { echo "write: no space left on device" >&2; exit 28; }'
    on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } }, run: [tidy] }
  tidy: { exec: "echo removed 14 segments" }
`;
const HANDLED = `
name: deploy
steps:
  canary: { exec: 'echo "p99 812 ms over limit 400 ms" >&2; exit 4' }
  roll-back: { exec: "echo put 2.3.9 back" }
transitions: [{ from: canary, to: roll-back, on: failure }]
`;
const FAILED = `
name: train-eval
steps:
  train: { exec: 'echo "CUDA out of memory" >&2; exit 1', on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } } }
`;

/** What ran on one day; the same on every machine. */
function runsOf(day: number): string[] {
  const isWeekend = day % 7 < 2;
  return [
    ...Array<string>(isWeekend ? 2 : 4 + (day % 3)).fill(AT_ONCE),
    ...Array<string>(1 + (day % 2)).fill(RESCUED),
    ...(day % 3 === 0 ? [MENDED] : []),
    ...(day % 4 === 1 ? [HANDLED] : []),
    ...(day % 6 === 2 || day === 9 ? [FAILED] : []),
  ];
}

/**
 * The four weeks before today. The runs are real and are made now; then they are moved into the past, as statistics go by the
 * time at which a run was created.
 */
export async function makeHistory(server: LiveServer): Promise<void> {
  const moved: { readonly run: number; readonly day: number }[] = [];
  for (let day = DAYS; day > 0; day -= 1) {
    const runs = await Promise.all(runsOf(day).map((source) => server.run(source)));
    for (const run of runs) {
      await server.until(run, "completed", "failed");
      moved.push({ run, day });
    }
  }
  const db = openDatabase(join(server.outputDir, "daruma.db"));
  const move = db.prepare(
    "UPDATE run SET created_at = created_at - ?1, started_at = started_at - ?1, finished_at = finished_at - ?1 WHERE id = ?2",
  );
  for (const { run, day } of moved) move.run(day * DAY_MS, run);
  db.close();
}
