import type { Assignment, Ended, Seat, Worker } from "../../run/worker.js";

/** Runs nothing: a test must not send what a command or a request sends. */
export class UnmockedWorker implements Worker {
  readonly name = "none";
  place(): { readonly worker: string } {
    return { worker: this.name };
  }
  release(): void {}
  execute({ stepId, action }: Assignment, _place: Seat | null, _signal: AbortSignal, ended: Ended): void {
    const message = `a test runs no ${action.type}: say t.mock(${JSON.stringify(stepId)}, () => OUTPUT)`;
    ended({
      kind: "failed",
      facts: { message, declared: { code: "UNKNOWN_ACTION", retryable: false } },
    } as never);
  }
  adopt(): boolean {
    return false;
  }
  onRoom(): () => void {
    return () => {};
  }
  async endLeftovers(): Promise<void> {}
  async close(): Promise<void> {}
}
