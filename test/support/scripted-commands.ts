import type { CommandAnswer, RunCommand } from "../../src/fleet/allocations/command.js";
import { createAllocationProvider } from "../../src/fleet/allocations/create-provider.js";
import type { AllocationProvider } from "../../src/fleet/allocations/provider.js";

/** What a command answers: a text with exit code 0, or any answer. */
type Scripted = string | Partial<CommandAnswer>;

/** Commands of a batch system that answer what a test wants, and remember what they were asked. */
export class ScriptedCommands {
  readonly calls: string[][] = [];
  readonly inputs: string[] = [];

  constructor(private readonly answers: { [program: string]: Scripted }) {}

  answer(program: string, answer: Scripted): void {
    this.answers[program] = answer;
  }

  readonly run: RunCommand = async (argv, options) => {
    this.calls.push([...argv]);
    this.inputs.push(options.input ?? "");
    const scripted = this.answers[argv[0] ?? ""];
    if (scripted === undefined) return answerOf({ exitCode: null, failure: "missing" });
    return answerOf(typeof scripted === "string" ? { stdout: scripted } : scripted);
  };

  get programs(): string[] {
    return this.calls.map(([program]) => program ?? "");
  }
}

function answerOf(part: Partial<CommandAnswer>): CommandAnswer {
  const failed = part.failure !== undefined && part.failure !== null;
  return { exitCode: failed ? null : 0, stdout: "", stderr: "", failure: null, ...part };
}

/** A provider whose batch system gives these answers. */
export function scriptedProvider(
  type: Parameters<typeof createAllocationProvider>[0],
  answers: ConstructorParameters<typeof ScriptedCommands>[0],
): { readonly commands: ScriptedCommands; readonly provider: AllocationProvider } {
  const commands = new ScriptedCommands(answers);
  return { commands, provider: createAllocationProvider(type, { run: commands.run, env: {} }) };
}

/** `RESTART PHASE (SOURCE)` of each incarnation. */
export async function phasesOf(provider: AllocationProvider, id = "7"): Promise<string[]> {
  const incarnations = (await provider.status([id], new AbortController().signal)).get(id) ?? [];
  return incarnations.map(({ restart, phase, source }) => `${restart} ${phase} (${source})`);
}
