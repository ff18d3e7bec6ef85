import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach } from "vitest";
import type { Event } from "../../src/core/model/events.js";
import type { Daruma } from "../../src/host/daruma.js";
import type { StartOptions } from "../../src/operations/runs/start-options.js";
import { RealRun, RealRuns } from "./real-run.js";

interface Compared {
  readonly inputs?: object;
  readonly context?: object;
  readonly reuse?: "last_ended" | number;
}

/** A step that says that it ran. */
export const says = (step: string, more = ""): string =>
  `{ exec: "echo ${step} >> ran; echo ${step}"${more} }`;

export const CHAIN = `steps:
  a: ${says("a")}
  b: ${says("b", ", depends_on: a")}
  c: ${says("c", ", depends_on: b")}
  side: ${says("side")}`;

/** One workflow that is run again and again. Each test has a folder, a store and a workflow file of its own. */
export class ReuseBench {
  readonly real = new RealRuns();
  daruma!: Daruma;
  private file = "";
  private count = 0;

  constructor() {
    beforeEach(async () => {
      this.daruma = await this.real.start();
      this.count += 1;
      this.file = `case-${this.count}/flow.yaml`;
      mkdirSync(join(this.real.folder, dirname(this.file)));
    });
  }

  path(name: string): string {
    return join(this.real.folder, dirname(this.file), name);
  }

  write(name: string, text: string): string {
    return this.real.write(join(dirname(this.file), name), text);
  }

  async run(text: string, options: StartOptions = {}): Promise<RealRun> {
    const { result } = await this.daruma.start(this.write("flow.yaml", text), options);
    return new RealRun(this.daruma, await result);
  }

  /** What ran since this was last asked, in alphabetical order. */
  ran(): string[] {
    try {
      return readFileSync(this.path("ran"), "utf8").trim().split("\n").toSorted();
    } catch {
      return [];
    } finally {
      rmSync(this.path("ran"), { force: true });
    }
  }

  difference(text: string, compared: Compared = {}) {
    return this.daruma.call("diff_run", {
      source: text,
      file_name: join(this.real.folder, this.file),
      folder: dirname(this.path("flow.yaml")),
      ...compared,
    } as never);
  }

  /** `step: why`, of the jobs that would run. */
  async why(text: string, compared: Compared = {}): Promise<string[]> {
    const { jobs } = await this.difference(text, compared);
    return jobs.filter(({ verdict }) => verdict === "run").map(({ step, reason }) => `${step}: ${reason}`);
  }

  async log({ report }: RealRun): Promise<string[]> {
    const names = new Map(report.jobs.map(({ id, step }) => [id, step]));
    const events = await this.daruma.store.readEvents(report.run_id);
    return events.map(({ event }) => line(event, names));
  }
}

function line(event: Event, names: ReadonlyMap<number, string>): string {
  if ("job" in event) return `${event.type} ${names.get(event.job)}`;
  return "jobs" in event ? `${event.type} ${event.jobs.map((id) => names.get(id)).join(" ")}` : event.type;
}
