import type { EvaluationResult } from "../../core/model/events.js";
import { createSandbox } from "../../run/sandbox/quickjs-sandbox.js";
import type { Sandbox } from "../../run/sandbox/sandbox.js";

/** The clock must not go on while an expression is evaluated in its thread. */
export class AwaitedSandbox implements Sandbox {
  private readonly inner = createSandbox();
  private readonly pending = new Set<Promise<EvaluationResult>>();

  evaluate: Sandbox["evaluate"] = (evaluation) => this.awaited(this.inner.evaluate(evaluation));
  render: Sandbox["render"] = (rendering, signal) => this.awaited(this.inner.render(rendering, signal));

  /** False: nothing was under way. */
  async idle(): Promise<boolean> {
    const was = this.pending.size > 0;
    await Promise.all(this.pending);
    return was;
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private awaited(result: Promise<EvaluationResult>): Promise<EvaluationResult> {
    this.pending.add(result);
    void result.then(() => this.pending.delete(result));
    return result;
  }
}
