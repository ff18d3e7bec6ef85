import { z } from "zod";
import {
  type Breaker,
  breakersOf,
  nextProbeAt,
  type SharedBreakers,
  stateOf,
  type UsedBreaker,
} from "../../core/breakers/breaker.js";
import { isBuiltInAction } from "../../core/model/action-traits.js";
import {
  type BreakerDefinition,
  DEFAULT_BREAKER,
  type Definition,
  type StepDefinition,
} from "../../core/model/definition.js";
import type { RunRow, RunStatus } from "../../core/model/rows.js";
import { findJob, type Job, type Run } from "../../core/model/run.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import { hasTurn, treeKeeper } from "../../core/model/workspace-turn.js";
import { iso } from "../../core/text/iso-time.js";
import { waitsForProgram } from "../../fleet/desk/why-no-place.js";
import { BREAKERS, readBreaker } from "../../run/engine/breakers/breaker-rows.js";
import { loadRun } from "../../run/engine/load-run.js";
import { placeWait } from "../../run/engine/places/place-text.js";
import type { Store } from "../../store/store.js";
import { listHolds } from "../../tell/holds.js";
import type { JobRecord } from "../../tell/job-record.js";
import { heldBelow, heldBelowText } from "../../tell/lookup/held-below.js";
import { jobName, listNames, nameOf } from "../../tell/lookup/job-name.js";
import { interruptedRuns } from "../../tell/lookup/run-owner.js";
import type { Context, PlacedJob } from "../context.js";
import type { Answer } from "../operation.js";
import type { waitsForPlace } from "../runs/run-shapes.js";

const WAIT_KINDS = [
  ...(["answer", "breaker", "child", "pause", "process", "retry"] as const),
  ...(["slot", "worker", "workspace"] as const),
] as const;

/** What keeps a ready or waiting job from going on. */
export const waitsFor = z
  .object({
    kind: z.enum(WAIT_KINDS),
    breaker: z.string().nullable().describe("The breaker; null: none."),
    job_id: z.number().nullable().describe("The job that has the workspace; null: none."),
    until: z.string().nullable().describe("The time of the retry, the probe or the end of the question."),
    text: z.string(),
  })
  .nullable()
  .describe("What a ready or waiting job waits for; null: for nothing, or it has another status.");

export type WaitsFor = NonNullable<Answer<typeof waitsFor>>;

const NOTHING_MORE = { breaker: null, job_id: null, until: null } as const;

type WaitingRecord = Pick<JobRecord, "id" | "step" | "status" | "attempts" | "due_at">;
type Asked = Pick<Context, "store" | "breakers" | "now" | "runner">;

/** Looks at each run, definition and breaker once; the rows alone are enough for most jobs. */
export class Waits {
  private readonly definitions = new Map<string, Promise<StoredSteps>>();
  private readonly interrupted = new Map<number, Promise<boolean>>();
  private readonly loaded = new Map<number, Promise<Run>>();
  private shared: Promise<SharedNow> | null = null;

  constructor(private readonly context: Asked) {}

  async of(run: RunRow, job: WaitingRecord): Promise<WaitsFor | null> {
    const isWaiting = job.status === "ready" || job.status === "waiting";
    if (!isWaiting || run.finished_at !== null) return null;
    const { definition, steps } = await this.definitionOf(run.definition_hash);
    const step = steps.get(job.step);
    if (definition === null || step === undefined) return null;
    const isAsking = step.action.type === "human";
    if (job.status === "waiting" && (isAsking || job.due_at !== null)) return waitsForTime(job, isAsking);
    if (await this.isInterrupted(run))
      return { kind: "process", ...NOTHING_MORE, text: "no process is running its run" };
    if (step.action.type === "workflow") {
      const below = await heldBelow(this.context.store, run);
      if (below.length > 0) return { kind: "child", ...NOTHING_MORE, text: heldBelowText(below) };
    }
    const breaker = await this.breakerOf(run, job, definition, { step: { definition: step } });
    if (breaker !== null) return breaker;
    if (run.status === "paused") return { kind: "pause", ...NOTHING_MORE, text: "its run is paused" };
    if (isAsking) return null;
    // Rows do not say whose the tree is, nor how much more the job was given.
    const isKnown = !step.usesWorkspace && job.attempts === 0;
    if (isKnown)
      return this.roomFor(run, { id: job.id, step: { definition: step }, raised: null }, definition);
    const now = await this.load(run.id);
    const found = findJob(now, job.id);
    if (found === null || found.status !== "ready") return null;
    return hasTurn(now, found) ? this.roomFor(run, found, definition) : waitsForTree(now);
  }

  private roomFor({ managed }: RunRow, job: PlacedJob, definition: Definition): WaitsFor {
    const { runner } = this.context;
    if (runner !== null) return { ...NOTHING_MORE, ...runner.whyNot(job, definition) };
    const actionType = job.step.definition.action.type;
    // The owner of an unmanaged run has all of its functions.
    if (managed && !isBuiltInAction(actionType))
      return { kind: "worker", ...NOTHING_MORE, text: waitsForProgram({ actionType }) };
    return managed
      ? { kind: "worker", ...NOTHING_MORE, text: "it waits for a worker of the server that has its run" }
      : { kind: "slot", ...NOTHING_MORE, text: "it waits for a free slot of the process that runs it" };
  }

  private async breakerOf(
    run: RunRow,
    job: WaitingRecord,
    definition: Definition,
    of: Parameters<typeof breakersOf>[1],
  ): Promise<WaitsFor | null> {
    if (of.step.definition.uses === undefined) return null;
    this.shared ??= this.readShared();
    const { found, policies, at } = await this.shared;
    const used = breakersOf({ definition, options: run.options, workflow: run.workflow }, of, policies);
    for (const each of used) {
      const breaker = found.get(each.key);
      if (breaker !== undefined && stateOf(breaker, each.policy, at) === "open")
        return waitsForBreaker(each, breaker);
    }
    if (job.status !== "waiting") return null;
    const text = "what it waited for works again, or was given up; it goes on soon";
    return { kind: "breaker", ...NOTHING_MORE, breaker: used[0]?.key ?? null, text };
  }

  private async readShared(): Promise<SharedNow> {
    const { store, now, breakers = [] } = this.context;
    const { rows, at } = await store.readShared(BREAKERS, null, now());
    const found = new Map(rows.map((row) => [row.name, readBreaker(row, DEFAULT_BREAKER)]));
    const policies = new Map<string, BreakerDefinition>(
      [...found].map(([name, { policy }]) => [name, { ...policy, name }]),
    );
    for (const each of breakers) policies.set(each.name, each);
    return { found, policies, at };
  }

  private definitionOf(hash: string): Promise<StoredSteps> {
    const known = this.definitions.get(hash);
    if (known !== undefined) return known;
    const read = this.context.store.readDefinition(hash).then((text) => {
      const definition = text === null ? null : parseStoredDefinition(text, hash);
      return { definition, steps: new Map(definition?.steps.map((step) => [step.id, step])) };
    });
    this.definitions.set(hash, read);
    return read;
  }

  private isInterrupted(run: RunRow): Promise<boolean> {
    const known = this.interrupted.get(run.id);
    if (known !== undefined) return known;
    const found = interruptedRuns(this.context.store, [run]).then((all) => all.has(run.id));
    this.interrupted.set(run.id, found);
    return found;
  }

  private load(runId: number): Promise<Run> {
    const known = this.loaded.get(runId);
    if (known !== undefined) return known;
    const loading = loadRun(this.context.store, runId).then(({ run }) => run);
    this.loaded.set(runId, loading);
    return loading;
  }
}

interface StoredSteps {
  readonly definition: Definition | null;
  readonly steps: ReadonlyMap<string, StepDefinition>;
}

interface SharedNow {
  readonly found: ReadonlyMap<string, Breaker>;
  readonly policies: SharedBreakers;
  readonly at: number;
}

function waitsForTime({ due_at: until }: WaitingRecord, isAsking: boolean): WaitsFor {
  return isAsking
    ? { kind: "answer", ...NOTHING_MORE, until, text: "somebody has to answer" }
    : { kind: "retry", ...NOTHING_MORE, until, text: `it runs again at ${until}` };
}

function waitsForBreaker({ key, policy }: UsedBreaker, breaker: Breaker): WaitsFor {
  const { opened, probe } = breaker;
  const probeAt = nextProbeAt(breaker, policy);
  const until = probeAt === null ? null : iso(probeAt);
  const next =
    probe !== null
      ? `run ${probe.run} is trying it`
      : until === null
        ? "it was opened by hand and is closed by hand"
        : `one of the jobs that wait for it is tried next at ${until}`;
  const text = `${key} has been open since ${iso(opened!.at)} (${opened!.reason}); ${next}`;
  return { kind: "breaker", ...NOTHING_MORE, breaker: key, until, text };
}

function waitsForTree(run: Run): WaitsFor {
  const keeper: Job | null = run.workspace.running ?? treeKeeper(run);
  const text =
    keeper === null ? "the workspace of its run is being made" : `${jobName(keeper)} has the workspace`;
  return { kind: "workspace", ...NOTHING_MORE, job_id: keeper?.id ?? null, text };
}

export type WaitsForPlace = NonNullable<Answer<typeof waitsForPlace>>;

/** What the runs among these wait for, by run: a place before they begin, or a child run that somebody has to decide about. */
export async function waitsOf(
  store: Store,
  runs: readonly RunRow[],
  now: number,
): Promise<ReadonlyMap<number, WaitsForPlace>> {
  const found = new Map(await placesOf(store, runs, now));
  for (const run of runs) {
    if (run.status !== "running") continue;
    const { ids, text } = await childrenWaiting(store, run.id);
    if (ids.length > 0) found.set(run.id, { kind: "child", position: null, runs: ids, text });
  }
  return found;
}

const OPEN: readonly RunStatus[] = ["running", "held", "paused"];

async function childrenWaiting(store: Store, runId: number): Promise<{ ids: number[]; text: string }> {
  const ids: number[] = [];
  const told: string[] = [];
  const look = async (above: number): Promise<void> => {
    for (const child of await store.listRuns({ parentRun: above, status: OPEN })) {
      if (child.status === "running" && (child.waiting ?? 0) === 0) await look(child.id);
      else {
        const holds = await listHolds(store, { runId: child.id });
        const names = listNames(holds, ({ step, scope }) => nameOf(step, scope));
        const how = child.status === "running" ? "asks" : child.status;
        ids.push(child.id);
        told.push(`run ${child.id}, ${how}${names === "" ? "" : `: ${names}`}`);
      }
    }
  };
  await look(runId);
  return { ids, text: `waits for ${listNames(told, (each) => each)}` };
}

/** Groups are read once, and only where one waits. */
async function placesOf(
  store: Store,
  runs: readonly RunRow[],
  now: number,
): Promise<ReadonlyMap<number, WaitsForPlace>> {
  const waiting = runs.filter(
    ({ concurrency, started_at, finished_at }) =>
      concurrency !== null && started_at === null && finished_at === null,
  );
  if (waiting.length === 0) return new Map();
  const groups = [...new Set(waiting.map(({ concurrency }) => concurrency!.group))];
  const members = await store.readGroups(groups, now);
  const found = new Map<number, WaitsForPlace>();
  for (const { id, concurrency } of waiting) {
    const own = members.find(({ runId }) => runId === id);
    if (own === undefined) continue;
    const beside = members.filter((each) => each.concurrency.group === concurrency!.group);
    const { position, runs: others, text } = placeWait(own, beside);
    found.set(id, { kind: "place", position, runs: others, text });
  }
  return found;
}
