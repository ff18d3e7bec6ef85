import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { Json } from "../../src/core/text/json.js";
import type { AnyFlow } from "../../src/flow/flow.js";
import { FlowStage as Stage } from "../../src/flow/testing/flow-stage.js";
import { readTrial, type Trial } from "./harness.js";
import { plainSandbox } from "./plain-sandbox.js";
import { type Script, ScriptedWorker } from "./scripted-worker.js";

const MAX_TURNS = 3_000;

type Wish = OperatorCommand extends infer C
  ? C extends OperatorCommand
    ? Omit<C, "reason" | "key"> & { key?: string }
    : never
  : never;

/** A run of a flow whose actions do what a script says. */
export class FlowStage extends Stage {
  private readonly startedAt = this.clock.now();

  private constructor(flow: AnyFlow, script: Script) {
    super(flow, { others: (clock) => new ScriptedWorker(clock, script), sandbox: plainSandbox });
  }

  static async begin(flow: AnyFlow, input: Json = null, script: Script = {}): Promise<FlowStage> {
    const stage = FlowStage.prepare(flow, script);
    await stage.start(input);
    return stage;
  }

  static prepare(flow: AnyFlow, script: Script = {}): FlowStage {
    return new FlowStage(flow, script);
  }

  get worker(): ScriptedWorker {
    return this.others as ScriptedWorker;
  }

  async turn(times = 1): Promise<this> {
    await this.settle();
    for (let turn = 0; turn < times; turn += 1) {
      if (!this.clock.fireNext()) throw new Error("nothing is due");
      await this.settle();
    }
    return this;
  }

  /** Lets time pass, but no further than the run needs to rest. */
  async rest(): Promise<Trial> {
    await this.settle();
    for (let turn = 0; this.phase === "running"; turn += 1) {
      if (turn > MAX_TURNS || !this.clock.fireNext()) throw new Error(`the run hangs: ${await this.told()}`);
      await this.settle();
    }
    return this.view();
  }

  operate(wish: Wish): Promise<string | null> {
    return this.say({ reason: "because", key: null, ...wish } as OperatorCommand);
  }

  async resolve(step: string, action: "retry" | "fail" | "skip" | "complete", value?: Json): Promise<void> {
    const output = value === undefined ? null : ({ kind: "value", value } as const);
    const refused = await this.operate({
      type: "holds.resolve",
      items: [{ job: await this.id(step), action, output, items: null }],
    });
    if (refused !== null) throw new Error(refused);
  }

  view(): Promise<Trial> {
    return readTrial(this.store, this.runId, this.worker, this.startedAt);
  }

  async id(step: string, scope = "root"): Promise<number> {
    return (await this.view()).job(step, scope).id;
  }

  private async told(): Promise<string> {
    const { log } = await this.view();
    return log.map(({ event }) => JSON.stringify(event)).join("\n");
  }
}
