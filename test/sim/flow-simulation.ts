import { isDeepStrictEqual } from "node:util";
import { jobRow } from "../../src/core/evolve/projections.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { isOver, type Run } from "../../src/core/model/run.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { FlowStage } from "../support/flow-stage.js";
import type { Invariant } from "../support/invariants.js";
import * as flows from "../support/invariants-flow.js";
import { Operators } from "./operators.js";
import { Random } from "./random.js";
import { FlowMaker, FlowWorld, outputOf, programOf, scriptOf } from "./random-flow.js";

const MAX_TURNS = 6_000;
const RULES: { readonly [name: string]: Invariant } = { ...flows };

export interface FlowStory {
  readonly log: readonly LoggedEvent[];
  readonly faults: readonly string[];
  readonly status: string;
}

/** A random program in random weather: its process dies, people meddle, and in the end it has done what it says. */
export async function tellFlow(seed: number): Promise<FlowStory> {
  const random = new Random(seed);
  const items = new FlowMaker(random).make();
  const rough = random.chance(0.8);
  const weather = {
    kill: rough ? 0.04 : 0,
    stop: rough ? 0.03 : 0,
    fault: rough ? 0.02 : 0,
    operate: random.chance(0.5) ? 0.04 : 0,
    cancel: random.chance(0.1) ? 0.01 : 0,
  };
  const operators = new Operators(random, 12);
  const said: OperatorCommand[] = [];
  let stage: FlowStage | null = null;
  const world = new FlowWorld(random, () => stage!.clock);
  const unhandled = random.pick(["hold", "fail"] as const);
  const deadline = random.chance(0.05) ? ({ deadline: "1m" } as const) : {};
  const program = programOf(items, world, { unhandled, ...deadline });
  const begun = FlowStage.prepare(program, scriptOf());
  stage = begun;
  await begun.start(null);
  const operate = async (command: OperatorCommand): Promise<void> => {
    said.push(command);
    // Where the store does not take it, nobody has said it.
    await begun.say(command).catch(() => {});
  };
  const resume = async (): Promise<void> => {
    for (let tries = 0; ; tries += 1) {
      try {
        await begun.resume();
        return;
      } catch (error) {
        if (tries > 5) throw error;
        begun.kill();
      }
    }
  };
  for (let turn = 0; ; turn += 1) {
    if (turn > MAX_TURNS) throw new Error(`seed ${seed}: the run hangs\n${await textOf(begun)}`);
    await begun.settle();
    const run = await begun.state();
    if (begun.phase === "over") {
      if (operators.areTired || !random.chance(weather.operate * 4)) break;
      await operate(operators.ask(run));
      if (!isOver(await begun.state())) await resume();
      continue;
    }
    if (begun.phase === "rests") {
      await operate(run.status === "held" ? operators.resolve(run) : operators.ask(run));
      await resume();
      continue;
    }
    if (begun.phase === "lost" || random.chance(weather.kill)) {
      begun.kill();
      await resume();
    } else if (random.chance(weather.stop)) {
      await begun.stop();
      await resume();
    }
    if (random.chance(weather.fault))
      begun.store.failNextCommit(new Error("the disk is gone"), { applied: random.chance(0.5) });
    if (!operators.areTired && random.chance(weather.operate)) await operate(operators.ask(run));
    if (random.chance(weather.cancel))
      await operate({ type: "run.cancel", reason: "weather", key: null, now: random.chance(0.3) });
    for (const job of run.asking) if (random.chance(0.3)) await operate(operators.answer(job));
    if (begun.phase === "running" && !begun.clock.fireNext())
      throw new Error(`seed ${seed}: nothing is due and the run is not over\n${await textOf(begun)}`);
  }
  const { run } = await loadRun(begun.store, begun.runId);
  const log = await begun.store.readEvents(begun.runId);
  const faults = Object.entries(RULES).flatMap(([name, rule]) => {
    const broken = rule(log, run.definition);
    return broken === null ? [] : [`${name}: ${broken}`];
  });
  return { log, faults: [...faults, ...(await faultsOf(begun, run, log, items, said))], status: run.status };
}

async function faultsOf(
  stage: FlowStage,
  run: Run,
  log: readonly LoggedEvent[],
  items: Parameters<typeof outputOf>[0],
  said: readonly OperatorCommand[],
): Promise<string[]> {
  const faults: string[] = [];
  const lasts = log.filter(({ event }) => /^run\.(completed|failed|canceled)$/.test(event.type)).length;
  const reopened = log.filter(({ event }) => event.type === "run.reopened").length;
  if (lasts !== reopened + 1) faults.push(`ends ${lasts} times, reopened ${reopened} times`);
  if (run.error?.code === "STALLED" || run.error?.code === "INTERNAL") faults.push(run.error.message);
  if (run.error?.code === "FLOW_CHANGED" || run.jobs[0]?.error?.code === "FLOW_CHANGED")
    faults.push(`the program is said to have changed: ${run.jobs[0]?.error?.message}`);
  const rows = await stage.store.readJobs(run.id);
  for (const job of run.jobs) {
    const row = rows.find(({ id }) => id === job.id);
    const told = JSON.parse(JSON.stringify(jobRow(run, job)));
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(row)), told))
      faults.push(`the row of ${job.id} differs`);
    if (
      job.status !== "completed" &&
      run.status === "completed" &&
      !["failed", "canceled", "skipped"].includes(job.status)
    )
      faults.push(`${job.step.definition.id} is ${job.status} in a completed run`);
  }
  const isGiven = said.some(
    (each) => each.type === "holds.resolve" && each.items.some(({ action }) => action !== "retry"),
  );
  if (run.status !== "completed" || isGiven) return faults;
  const { output } = run.jobs[0]!;
  const value = output?.kind === "value" ? output.value : null;
  if (!isDeepStrictEqual(value, outputOf(items)))
    faults.push(`puts out ${JSON.stringify(value)}, not ${JSON.stringify(outputOf(items))}`);
  return faults;
}

async function textOf(stage: FlowStage): Promise<string> {
  return (await stage.store.readEvents(stage.runId))
    .map(({ seq, event }) => `${seq} ${JSON.stringify(event)}`)
    .join("\n");
}
