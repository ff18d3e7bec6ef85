import { type CommandAnswer, failureWords, type RunCommand } from "./command.js";
import type { Refusal } from "./provider.js";

/** Runs the commands of a batch system, always with the same environment. */
export class SchedulerCommands {
  constructor(
    private readonly run: RunCommand,
    private readonly env: Record<string, string | undefined>,
  ) {}

  ask(argv: readonly string[], signal: AbortSignal, input = ""): Promise<CommandAnswer> {
    return this.run(argv, { signal, env: this.env, input });
  }

  /** Returns the command's output; throws if it failed. */
  async must(argv: readonly string[], signal: AbortSignal): Promise<string> {
    const answer = await this.ask(argv, signal);
    if (answer.exitCode !== 0) throw new Error(failureWords(argv, answer));
    return answer.stdout;
  }

  /**
   * Runs a command that ends a job. It also fails for a job that has just ended, so only a missing answer is an error.
   */
  async end(
    argv: readonly string[],
    signal: AbortSignal,
    refusalOf: (argv: readonly string[], answer: CommandAnswer) => Refusal,
  ): Promise<void> {
    const answer = await this.ask(argv, signal);
    if (answer.exitCode !== 0 && refusalOf(argv, answer).refused === "BUSY")
      throw new Error(failureWords(argv, answer));
  }
}
