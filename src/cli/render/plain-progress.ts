import { Narrator } from "../../tell/words/narrator.js";
import type { Printed } from "../../tell/words/note.js";
import type { CommandLine } from "../declare/command-words.js";
import type { Channel } from "../terminal/channel.js";
import { shownLine } from "./paint.js";
import type { Progress } from "./progress.js";

const MS_PER_SECOND = 1_000;
const TIME_WIDTH = 9;
const NO_TIME = " ".repeat(TIME_WIDTH);

/**
 * Progress for logs and pipes: one line per important event, with the time since this command began to watch the run.
 */
export function plainProgress(channel: Channel, commandLine?: CommandLine): Progress {
  const narrator = new Narrator(commandLine);
  let startedAt: number | null = null;
  /** Somebody who sees all output has seen the error lines. */
  let showsAll = false;
  return {
    events(run, events) {
      startedAt ??= events[0]?.at ?? null;
      const lines = events
        .flatMap((event) => narrator.tell(run, event))
        .flatMap((told) => [
          `${elapsed(told.at - (startedAt ?? told.at))}  ${shownLine(told.text)}\n`,
          ...(showsAll || told.printed === undefined ? [] : linesOf(told.printed)),
        ]);
      if (lines.length > 0) channel.write(lines.join(""));
    },
    say: (text) => channel.write(`${shownLine(text)}\n`),
    printed(name, lines) {
      showsAll = true;
      channel.write(lines.map((line) => printedLine(name, line)).join(""));
    },
    end: () => {},
  };
}

function linesOf({ name, lines }: Printed): string[] {
  return lines.map((line) => printedLine(name, line));
}

function printedLine(name: string, line: string): string {
  return `${NO_TIME}  ${shownLine(`${name} | ${line}`)}\n`;
}

/** Formats a time. Negative ones (the clock was set back) become zero. */
export function elapsed(ms: number): string {
  return `+${(Math.max(0, ms) / MS_PER_SECOND).toFixed(3)}s`.padStart(TIME_WIDTH);
}
