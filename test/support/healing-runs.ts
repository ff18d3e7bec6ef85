import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { Event } from "../../src/core/model/events.js";
import type { Daruma } from "../../src/host/daruma.js";
import { openWorkspaces } from "../../src/run/workspace/workspaces.js";
import { git, makeRepository, photograph } from "./git-repository.js";
import { type RealRun, RealRuns } from "./real-run.js";
import { trace } from "./trace.js";

export interface Source {
  readonly repo: string;
  /** A folder outside, where steps count and leave marks. */
  readonly marks: string;
}

/** Real runs in workspaces. Whatever a test does: its repository's index, branches, stash and files stay as they were. */
export class HealingRuns extends RealRuns {
  private readonly sources: (Source & { readonly before: ReturnType<typeof photograph> })[] = [];
  private made = 0;

  constructor() {
    super();
    afterEach(() => {
      for (const { repo, before } of this.sources.splice(0)) expect(photograph(repo)).toEqual(before);
    });
  }

  /** A repository with work in it that is not committed. */
  source(): Source {
    this.made += 1;
    const repo = makeRepository(join(this.folder, `repo-${this.made}`), {
      "a.txt": "a\n",
      "old-name.txt": "renamed by a step\n".repeat(20),
      "gone.txt": "deleted by a step\n",
    });
    writeFileSync(join(repo, "unsaved.txt"), "the user's own work");
    writeFileSync(join(repo, "a.txt"), "changed, not staged\n");
    git(repo, "branch", "side");
    const marks = join(this.folder, `marks-${this.made}`);
    if (!existsSync(marks)) mkdirSync(marks);
    this.sources.push({ repo, marks, before: photograph(repo) });
    return { repo, marks };
  }
}

export function healingFile({ repo }: Source, keys: string, steps: string): string {
  return `name: heal\nworkspace: { repo: ${JSON.stringify(repo)} }\n${keys}\nsteps:\n${steps}\n`;
}

/** A shell line that knows in `$n` how often it was begun, as a YAML value. */
export function counting({ marks }: Source, script: string): string {
  return JSON.stringify(`echo x >> ${marks}/n; n=$(wc -l < ${marks}/n); ${script}`);
}

export async function traceOf({ daruma, report }: RealRun): Promise<string[]> {
  const { store } = daruma;
  return trace({ log: await store.readEvents(report.run_id), jobs: await store.readJobs(report.run_id) });
}

/** Where the pointer says that the run works. */
export async function activePath({ outputDir, report }: RealRun): Promise<string> {
  return (await openWorkspaces({ outputDir }).current(report.run_id))!.path;
}

export function untilEvent(daruma: Daruma, wanted: (event: Event) => boolean): Promise<Event> {
  return new Promise((resolve) => {
    daruma.onCommitted((_run, events) => {
      const found = events.find(({ event }) => wanted(event));
      if (found !== undefined) resolve(found.event);
    });
  });
}
