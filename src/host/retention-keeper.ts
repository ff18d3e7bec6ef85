import { messageOf } from "../core/text/message-of.js";
import type { RetentionSettings } from "../file/settings/retention.js";
import { applyRetention } from "../operations/retention/apply-retention.js";
import { tokensEndedBefore } from "../operations/retention/ended-rows.js";
import { planRetention } from "../operations/retention/plan-retention.js";
import { listRemovedRuns, removeFiles } from "../operations/retention/removed-files.js";
import {
  countsOf,
  countsText,
  notePass,
  type RetentionCounts,
} from "../operations/retention/retention-passes.js";
import { RunFiles, runsWithFolders, runsWithLogs } from "../operations/retention/run-files.js";
import type { Clock } from "../run/engine/clock.js";
import { Duty, type DutyOptions } from "../run/engine/duties/duty.js";
import { Loop } from "../run/engine/loop.js";
import type { Store } from "../store/store.js";

/** How long it rests between two passes. */
export const RETENTION_REST_MS = 600_000;

export interface RetentionKeeperOptions {
  readonly store: Store;
  readonly outputDir: string;
  readonly clock: Clock;
  readonly leases: DutyOptions["leases"];
  /** This server's. */
  readonly host: string;
  readonly rules: RetentionSettings;
  /** Called with a sentence for the log. */
  readonly tell: (text: string) => void;
}

/**
 * Keeps a server within the bounds of its settings. Runs are removed by one server of the store; logs and artifacts lie in
 * the output folder of each server, which looks after its own, also after those of runs that others have removed.
 */
export class RetentionKeeper {
  private readonly files: RunFiles;
  private readonly duty: Duty | null;
  private readonly loop: Loop;
  private told = "";

  constructor(private readonly options: RetentionKeeperOptions) {
    this.files = new RunFiles(options.outputDir);
    this.loop = new Loop(options.clock, { turn: () => this.pass(), restMs: () => RETENTION_REST_MS });
    const { rules, clock, leases } = options;
    this.duty =
      rules.runs === null
        ? null
        : new Duty({
            ...{ clock, leases, name: "retention", restMs: RETENTION_REST_MS },
            work: async () => {
              await this.keep(() => this.remove({ runs: rules.runs, logs: null, artifacts: null }));
              return false;
            },
          });
  }

  start(): void {
    this.duty?.start();
    this.loop.wake();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await this.duty?.stop();
  }

  private pass(): Promise<void> {
    const { logs, artifacts } = this.options.rules;
    return this.keep(async () => {
      await this.removeFilesOfOthers();
      return this.remove({ runs: null, logs, artifacts });
    });
  }

  /** A store or a disk that fails now is asked again after a rest. */
  private async keep(work: () => Promise<RetentionCounts | null>): Promise<void> {
    const { store, host, clock, tell } = this.options;
    try {
      const counts = await work();
      if (counts === null) return;
      this.told = "";
      const what = countsText(counts);
      if (what !== null) tell(`retention: removed ${what}`);
      await notePass(store, { host, counts, error: null }, clock.now());
    } catch (error) {
      const message = messageOf(error);
      if (message !== this.told) tell(`retention: ${message}`);
      this.told = message;
      const counts = { runs: 0, logs: 0, artifacts: 0, bytes: 0 };
      await notePass(store, { host, counts, error: message }, clock.now()).catch(() => {});
    }
  }

  /** Removes what the rules say. Null if there are no rules. */
  private async remove(rules: RetentionSettings): Promise<RetentionCounts | null> {
    if (rules.runs === null && rules.logs === null && rules.artifacts === null) return null;
    const { store, outputDir, clock } = this.options;
    const place = { store, outputDir, files: this.files, now: clock.now(), byItself: true };
    const plan = await planRetention(place, rules);
    const done = countsOf(await applyRetention(place, plan, () => this.loop.isStopped));
    const age = rules.runs?.olderThanMs ?? null;
    if (age !== null) await this.removeTokens(clock.now() - age);
    return done;
  }

  /** They open nothing any more. Ended allocations have files on the machine that they were submitted from: `prune` is for those. */
  private async removeTokens(before: number): Promise<void> {
    const { store } = this.options;
    const tokens = await tokensEndedBefore(store, before);
    if (tokens.length > 0) await store.deleteEnded({ allocations: [], tokens });
  }

  private async removeFilesOfOthers(): Promise<void> {
    const { store, outputDir, clock } = this.options;
    const removed = await listRemovedRuns(store, clock.now());
    if (removed.length === 0) return;
    const there = await runsWithFolders(outputDir);
    for (const id of runsWithLogs(outputDir, new Set(removed))) there.add(id);
    const gone = new Set<number>();
    for (const id of removed) if (there.has(id) && (await store.readRun(id)) === null) gone.add(id);
    await removeFiles(outputDir, gone);
  }
}
