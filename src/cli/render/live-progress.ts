import type { Run } from "../../core/model/run.js";
import { Narrator } from "../../tell/words/narrator.js";
import type { Note, NoteKind } from "../../tell/words/note.js";
import type { CommandLine } from "../declare/command-words.js";
import type { Channel } from "../terminal/channel.js";
import { Forecast, type UsualTimes } from "./forecast.js";
import { LiveRegion } from "./live-region.js";
import type { Colour } from "./paint.js";
import type { Progress } from "./progress.js";
import { LONG_MS, pictureOf } from "./run-picture.js";

const FRAME_MS = 100;
const FORECAST_MS = 1_000;
/** In a larger workflow, completed steps are only counted, unless something had gone wrong with them. */
const MAX_STEPS_TOLD_ONE_BY_ONE = 40;

const SIGNS: Readonly<Record<NoteKind, readonly [sign: string, colour: Colour]>> = {
  run: ["•", "bold"],
  started: ["•", "dim"],
  completed: ["✓", "green"],
  recovered: ["✓", "green"],
  failed: ["✗", "red"],
  route: ["↺", "yellow"],
  held: ["‖", "yellow"],
  question: ["?", "cyan"],
  operator: ["☞", "cyan"],
  skipped: ["-", "dim"],
  canceled: ["⊘", "yellow"],
};

export interface LiveClock {
  now(): number;
  /** Calls repeatedly until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

const systemLiveClock: LiveClock = {
  now: () => Date.now(),
  every(ms, call) {
    const timer = setInterval(call, ms).unref();
    return () => clearInterval(timer);
  },
};

/** Progress for people: a region that is redrawn in place, below a line for each important event. */
export function liveProgress(
  channel: Channel,
  clock: LiveClock = systemLiveClock,
  commandLine?: CommandLine,
  usual: (run: Run) => Promise<ReadonlyMap<string, UsualTimes>> = async () => new Map(),
): Progress {
  const narrator = new Narrator(commandLine);
  const region = new LiveRegion(channel);
  let shownRun: Run | null = null;
  let waiting: string[] = [];
  /** Somebody who sees all output has seen the error lines. */
  let showsAll = false;
  const push = (name: string, lines: readonly string[]): void => {
    waiting.push(...lines.map((line) => `${channel.paint("dim", `${name} |`)} ${line}`));
  };
  const left = new TimeLeft(usual);
  const draw = (): void => {
    const size = { width: channel.width(), height: channel.height() };
    const now = clock.now();
    const picture =
      shownRun === null ? [] : pictureOf(shownRun, now, size, channel.paint, left.at(shownRun, now));
    region.frame(waiting, picture);
    waiting = [];
  };
  const stop = clock.every(FRAME_MS, draw);
  return {
    events(run, events) {
      // With child runs, the picture shows the run that was asked for.
      if (shownRun === null || run.parent === null) shownRun = run;
      for (const event of events) {
        if (run === shownRun) left.forecast.hear(run, event);
        for (const note of narrator.tell(run, event)) {
          if (!isKept(run, note)) continue;
          waiting.push(signed(channel, note));
          if (!showsAll && note.printed !== undefined) push(note.printed.name, note.printed.lines);
        }
      }
    },
    say(text) {
      waiting.push(text);
      draw();
    },
    printed(name, lines) {
      showsAll = true;
      push(name, lines);
    },
    end() {
      stop();
      region.frame(waiting, []);
      waiting = [];
      shownRun = null;
    },
  };
}

/** The time left, computed at most once a second, because a frame must not visit every job of a large run. */
class TimeLeft {
  readonly forecast = new Forecast();
  private last: { readonly at: number; readonly ms: number | null } | null = null;
  private hasAsked = false;

  constructor(private readonly usual: (run: Run) => Promise<ReadonlyMap<string, UsualTimes>>) {}

  at(run: Run, now: number): number | null {
    if (now - (run.startedAt ?? run.createdAt) < LONG_MS) return null;
    if (!this.hasAsked) {
      this.hasAsked = true;
      // A failure to read usual times only makes the estimate worse.
      this.usual(run).then(
        (times) => this.forecast.expect(times),
        () => {},
      );
    }
    if (this.last === null || now - this.last.at >= FORECAST_MS)
      this.last = { at: now, ms: this.forecast.leftMs(run, now) };
    return this.last.ms;
  }
}

function isKept(run: Run, { kind }: Note): boolean {
  if (kind === "started") return false;
  return kind !== "completed" || run.jobs.length <= MAX_STEPS_TOLD_ONE_BY_ONE;
}

function signed(channel: Channel, { kind, text }: Note): string {
  const [sign, colour] = SIGNS[kind];
  return `${channel.paint(colour, sign)} ${text}`;
}
