import { spawn } from "node:child_process";
import type { Refusal } from "./provider.js";

/** Longer than a busy controller needs, and shorter than anybody wants to wait. */
const COMMAND_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface CommandAnswer {
  /** Null if there is no exit code; see `failure`. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why there is no answer. Distinguishes a missing command from one that does not answer. */
  readonly failure: "missing" | "timeout" | "canceled" | "too_much" | "killed" | null;
}

interface CommandOptions {
  readonly signal: AbortSignal;
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs a command of the batch system. Tests pass their own. */
export type RunCommand = (argv: readonly string[], options: CommandOptions) => Promise<CommandAnswer>;

/** Dependencies of a provider. By default it runs real commands in this process's environment. */
export interface ProviderOptions {
  readonly run?: RunCommand | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Never rejects and never hangs: a command that exceeds its time limit is killed and no longer waited for. */
export const runCommand: RunCommand = (argv, options) =>
  new Promise((resolve) => {
    const [program = "", ...rest] = argv;
    const child = spawn(program, rest, { env: { ...options.env }, stdio: "pipe" });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let bytes = 0;
    const finish = (failure: CommandAnswer["failure"], exitCode: number | null = null): void => {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", cancel);
      if (failure !== null) {
        child.kill("SIGKILL");
        // Child processes of the command may keep the pipes open.
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
        child.unref();
      }
      resolve({ exitCode, stdout: textOf(out), stderr: textOf(err), failure });
    };
    const cancel = (): void => finish("canceled");
    const timer = setTimeout(() => finish("timeout"), options.timeoutMs ?? COMMAND_TIMEOUT_MS);
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) finish("too_much");
      else into.push(chunk);
    };
    child.stdout.on("data", collect(out));
    child.stderr.on("data", collect(err));
    child.stdin.on("error", () => {});
    child.on("error", () => finish("missing"));
    child.on("close", (code) => finish(code === null ? "killed" : null, code));
    child.stdin.end(options.input ?? "");
    if (options.signal.aborted) cancel();
    else options.signal.addEventListener("abort", cancel, { once: true });
  });

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8");
}

/** Whether the command may have done its work, with only its answer lost. */
export function mayHaveWorked({ failure, exitCode }: CommandAnswer): boolean {
  return exitCode === 0 || (failure !== null && failure !== "missing");
}

/** Describes a failure, for a message. */
export function failureWords(argv: readonly string[], answer: CommandAnswer): string {
  const said = (answer.stderr.trim() || answer.stdout.trim()).slice(0, MAX_SAID_CHARS);
  const program = argv[0];
  if (answer.failure === "missing")
    return `${program} could not be started; is it installed on this machine?`;
  if (answer.failure !== null)
    return `${program} did not answer (${answer.failure})${said === "" ? "" : `: ${said}`}`;
  return `${program} failed with exit code ${answer.exitCode}${said === "" ? "" : `: ${said}`}`;
}

const MAX_SAID_CHARS = 500;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of the commands. It leaves out variables that change a command's options or output (the server may
 * itself run inside an allocation), and Daruma's own variables such as its token.
 */
export function commandEnvironment(
  base: Environment,
  kept: ReadonlySet<string>,
): Record<string, string | undefined> {
  const entries = Object.entries(base).filter(([name]) => kept.has(name) || !CHANGES_COMMANDS.test(name));
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}

const CHANGES_COMMANDS = /^(DARUMA|SBATCH|SRUN|SALLOC|SQUEUE|SACCT|SCANCEL|SINFO|SCONTROL|SLURM|SLURMD)_/;

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
