import type { Command } from "commander";
import type { AnswerFlags } from "./commands/answer.js";
import type { ForkFlags } from "./commands/fork.js";
import type { ResetFlags } from "./commands/reset.js";
import type { ResolveFlags } from "./commands/resolve.js";
import type { RetryFlags } from "./commands/retry.js";
import { collect, RUN_ARGUMENT, runReference, wholeNumber } from "./declare-run-commands.js";
import type { OperatorFlags } from "./operate.js";
import type { Declaration } from "./program.js";
import type { RunReference } from "./run-reference.js";

/** The commands with which a person steers a run, whichever process runs it. */
export function declareOperatorCommands(declaration: Declaration): void {
  declareHoldCommands(declaration);
  declarePauseCommands(declaration);
  declareRetryCommands(declaration);
  declareAnswer(declaration);
  declareFork(declaration);
}

function withReason(command: Command): Command {
  return command.option("--reason <text>", 'is kept in the log (default: "by hand")');
}

function withKey(command: Command): Command {
  return command.option("--key <key>", "the same key is taken once, however often it is given");
}

function declareHoldCommands({ program, act }: Declaration): void {
  program
    .command("holds")
    .description("list the jobs that wait for somebody to decide, with the last lines of their stderr")
    .argument("[run]", `${RUN_ARGUMENT}; of all runs unless told`, runReference)
    .addHelpText("after", "\nExamples:\n  daruma holds\n  daruma holds 3 --json")
    .action((run: RunReference | undefined) =>
      act(async (session) => (await import("./commands/holds.js")).holds(run, session)),
    );
  const resolve = program
    .command("resolve")
    .description(
      "decide holds: run again, fail, skip, or complete with an output; all that are named or none",
    )
    .argument("<run>", RUN_ARGUMENT, runReference)
    .argument("[job...]", "job ids, step ids, or step@scope")
    .option("--all", "every hold of the run")
    .option("--scope <scope>", "which branch of a fan-out, such as root/list[2]")
    .option("--retry", "run it again, with all budgets anew")
    .option("--fail", "let it fail; what depends on it is canceled")
    .option("--skip", "go on without it; what depends on it runs")
    .option("--complete <json>", "as if it had completed with this output")
    .option("--dry-run", "only say what would happen");
  withKey(withReason(resolve))
    .addHelpText(
      "after",
      `
Examples:
  daruma resolve 3 build --retry --reason "the disk is free again"
  daruma resolve 3 30000002 visit@cities[1] --skip --reason "not needed today"
  daruma resolve 3 fetch --complete '{"rows": 0}' --reason "no data on Sundays" --dry-run
  daruma resolve last --all --fail --reason "wrong branch"`,
    )
    .action((run: RunReference, jobs: string[], flags: ResolveFlags) =>
      act(async (session) => (await import("./commands/resolve.js")).resolveHolds(run, jobs, flags, session)),
    );
}

function declarePauseCommands({ program, act }: Declaration): void {
  const pause = (takeover: boolean) => (run: RunReference, flags: OperatorFlags) =>
    act(async (session) => (await import("./commands/pause.js")).pause(run, { ...flags, takeover }, session));
  const pausing = program
    .command("pause")
    .description("start nothing new in a run until it is resumed; what runs is let end")
    .argument("<run>", RUN_ARGUMENT, runReference);
  withKey(withReason(pausing))
    .addHelpText("after", '\nExamples:\n  daruma pause 3\n  daruma pause last --reason "database upgrade"')
    .action(pause(false));
  const takeover = program
    .command("takeover")
    .description("pause a run and claim it for work by hand")
    .argument("<run>", RUN_ARGUMENT, runReference);
  withKey(withReason(takeover))
    .addHelpText("after", '\nExamples:\n  daruma takeover 3 --reason "looking at it myself"')
    .action(pause(true));
}

function declareRetryCommands({ program, act }: Declaration): void {
  const retry = program
    .command("retry")
    .description("run a failed, canceled or held step again, also of a run that is over")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .argument("<step>", "a step id, step@scope, or a job id")
    .option("--force", "also back to a completed step: it and what depends on it run again")
    .option("--scope <scope>", "which branch of a fan-out, such as root/list[2]");
  withKey(withReason(retry))
    .addHelpText(
      "after",
      `
It only says so in the log; \`daruma resume RUN\` goes on unless some process runs the run already.

Examples:
  daruma retry 3 build --reason "fixed the compiler"
  daruma retry last setup --force`,
    )
    .action((run: RunReference, step: string, flags: RetryFlags) =>
      act(async (session) => (await import("./commands/retry.js")).retry(run, step, flags, session)),
    );
  const reset = program
    .command("reset")
    .description("begin anew whatever failed unhandled, was canceled or is held; what completed stays")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .option("--failed-only", "must be said: nothing else can be reset");
  withKey(withReason(reset))
    .addHelpText("after", '\nExamples:\n  daruma reset 3 --failed-only --reason "the network is back"')
    .action((run: RunReference, flags: ResetFlags) =>
      act(async (session) => (await import("./commands/reset.js")).reset(run, flags, session)),
    );
}

function declareAnswer({ program, act }: Declaration): void {
  const answer = program
    .command("answer")
    .description("answer the question of a human step")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .argument("<step>", "a step id, step@scope, or a job id")
    .requiredOption("--choose <choice>", "one of the step's choices, such as approve or reject")
    .option("--text <text>", "more words; they are part of the step's output")
    .option("--scope <scope>", "which branch of a fan-out, such as root/list[2]");
  withKey(answer)
    .addHelpText(
      "after",
      '\nExamples:\n  daruma answer 3 release --choose approve\n  daruma answer last release --choose reject --text "not on a Friday"',
    )
    .action((run: RunReference, step: string, flags: AnswerFlags) =>
      act(async (session) => (await import("./commands/answer.js")).answer(run, step, flags, session)),
    );
}

function declareFork({ program, act }: Declaration): void {
  const fork = program
    .command("fork")
    .description("a new run that reuses what another completed before a step, and goes on from there")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .requiredOption("--from <step>", "the first step that is done anew, with all that depends on it")
    .option("--input <name=value>", "over the inputs of the old run; may be given several times", collect)
    .option("--file <file>", "a newer workflow file (default: the old run's own definition)")
    .option("--max-parallel <n>", "attempts at a time (default: the number of cores)", wholeNumber(1));
  withReason(fork)
    .addHelpText(
      "after",
      `
Examples:
  daruma fork 3 --from deploy
  daruma fork last --from test --file release.yaml --input target=production`,
    )
    .action((run: RunReference, flags: ForkFlags) =>
      act(async (session) => (await import("./commands/fork.js")).fork(run, flags, session)),
    );
}
