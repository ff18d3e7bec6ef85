import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Event, EventType } from "../../src/core/model/events.js";
import { Daruma } from "../../src/host/daruma.js";
import type { DarumaOptions } from "../../src/host/parts.js";
import type { StartOptions } from "../../src/operations/runs/start-options.js";
import { runLogFolder } from "../../src/run/worker/attempt-paths.js";
import type { RunReport } from "../../src/tell/run-report.js";
import { fileAppears } from "./file-appears.js";

/** A folder with real workers, real processes and a real SQLite file, for the tests of one file. */
export class RealRuns {
  folder = "";
  private readonly open: Daruma[] = [];
  private count = 0;

  constructor() {
    beforeAll(() => {
      this.folder = mkdtempSync(join(tmpdir(), "daruma-real-"));
    });
    afterEach(async () => {
      for (const daruma of this.open.splice(0)) await daruma.close();
    });
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** An engine with an output folder of its own. */
  async start(options: DarumaOptions = {}): Promise<Daruma> {
    this.count += 1;
    const daruma = await Daruma.open({
      outputDir: join(this.folder, `out-${this.count}`),
      maxParallel: 4,
      ...options,
    });
    this.open.push(daruma);
    return daruma;
  }

  write(name: string, text: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, text, { mode: 0o755 });
    return file;
  }

  /** A process of a step has come so far. */
  fileAppears(file: string): Promise<void> {
    return fileAppears(file);
  }

  async run(text: string, options: DarumaOptions & { start?: StartOptions } = {}): Promise<RealRun> {
    const daruma = await this.start(options);
    const file = this.write(`flow-${this.count}.yaml`, text);
    const { result } = await daruma.start(file, options.start);
    return new RealRun(daruma, await result);
  }
}

export class RealRun {
  constructor(
    readonly daruma: Daruma,
    readonly report: RunReport,
  ) {}

  get outputDir(): string {
    return this.daruma.outputDir;
  }

  job(step: string): RunReport["jobs"][number] {
    return this.report.jobs.find((job) => job.step === step)!;
  }

  async events<T extends EventType>(type: T): Promise<Extract<Event, { type: T }>[]> {
    const log = await this.daruma.store.readEvents(this.report.run_id);
    return log.flatMap(({ event }) => (event.type === type ? [event as never] : []));
  }

  /** Names of the log files, the attempt's part only: `a1.o`, `a1.recovery.e`. */
  logs(step: string): string[] {
    const mark = `_j${this.job(step).id}_`;
    const folder = runLogFolder(this.outputDir, this.report.run_id);
    const names = readdirSync(folder).filter((name) => name.includes(mark));
    return names.map((name) => name.replace(/^.*_(a\d+)/, "$1")).toSorted();
  }

  /** The text of a file of this run below the output folder whose path ends so. */
  text(ending: string): string {
    const file = filesIn(this.outputDir).find((path) => path.endsWith(ending));
    if (file === undefined) throw new Error(`no file ${ending}`);
    return readFileSync(file, "utf8");
  }
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
