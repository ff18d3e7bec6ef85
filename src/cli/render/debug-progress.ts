import type { Run } from "../../core/model/run.js";
import { createRedactor, type Redactor } from "../../core/redaction/redaction.js";
import { ReplayedRun } from "../../tell/lookup/replayed-log.js";
import { debugLines } from "../../tell/words/words.js";
import type { CommandLine } from "../declare/command-words.js";
import type { Channel } from "../terminal/channel.js";
import { shownLine } from "./paint.js";
import { elapsed, plainProgress } from "./plain-progress.js";
import type { Progress } from "./progress.js";

/**
 * Plain progress with, below each line, what led to it. It is made only from the log, so it shows what was recorded.
 * The run that listeners get may be ahead of its committed events, so this folds the events itself.
 */
export function debugProgress(
  channel: Channel,
  env: { readonly [name: string]: string | undefined } = process.env,
  commandLine?: CommandLine,
): Progress {
  const plain = plainProgress(channel, commandLine);
  /** One replay for the run and each of its child runs. */
  const replays = new Map<number, ReplayedRun>();
  let redactor: Redactor | null = null;
  let startedAt: number | null = null;
  return {
    ...plain,
    events(run, events) {
      redactor ??= redactorOf(run, env);
      startedAt ??= events[0]?.at ?? null;
      // The log of a resumed run is only seen from its middle, so the live run is used instead.
      if (events[0]?.event.type === "run.created")
        replays.set(run.id, new ReplayedRun(run.id, () => run.definition));
      for (const logged of events) {
        const state = replays.get(run.id)?.fold(logged) ?? run;
        plain.events(state, [logged]);
        for (const line of debugLines(state, logged.event)) {
          channel.write(
            `${elapsed(logged.at - (startedAt ?? logged.at))}  ${channel.paint("dim", `debug: ${shownLine(redactor.redact(line))}`)}\n`,
          );
        }
      }
    },
  };
}

function redactorOf(run: Run, env: { readonly [name: string]: string | undefined }): Redactor {
  return createRedactor(
    run.definition.secrets.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : [])),
  );
}
