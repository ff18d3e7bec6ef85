import { Narrator } from "../../report/words/narrator.js";
import type { CommandLine } from "../declare/command-words.js";
import type { Channel } from "../terminal/channel.js";
import { shownLine } from "./paint.js";
import type { Progress } from "./progress.js";

const MS_PER_SECOND = 1_000;
const TIME_WIDTH = 9;
const NO_TIME = " ".repeat(TIME_WIDTH);

/** For logs and pipes: one line for each thing worth telling, with the time since this command saw the run. */
export function plainProgress(channel: Channel, commandLine?: CommandLine): Progress {
  const narrator = new Narrator(commandLine);
  let startedAt: number | null = null;
  return {
    events(run, events) {
      startedAt ??= events[0]?.at ?? null;
      const lines = events
        .flatMap((event) => narrator.tell(run, event))
        .map(({ at, text }) => `${elapsed(at - (startedAt ?? at))}  ${shownLine(text)}\n`);
      if (lines.length > 0) channel.write(lines.join(""));
    },
    say: (text) => channel.write(`${shownLine(text)}\n`),
    printed: (name, lines) =>
      channel.write(lines.map((line) => `${NO_TIME}  ${shownLine(`${name} | ${line}`)}\n`).join("")),
    end: () => {},
  };
}

/** Never less than nothing: the clock may have been set back. */
export function elapsed(ms: number): string {
  return `+${(Math.max(0, ms) / MS_PER_SECOND).toFixed(3)}s`.padStart(TIME_WIDTH);
}
