import { setTimeout as delay } from "node:timers/promises";
import type { EventType, LoggedEvent } from "../../core/events.js";
import { openReplay, readLog } from "../../operations/replayed-log.js";
import { iso } from "../../operations/run-report.js";
import type { Store } from "../../store/store.js";
import type { Session } from "../channel.js";
import { eventText } from "../render/event-text.js";
import { elapsed } from "../render/plain-progress.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { withStore } from "../with-store.js";

export interface EventsFlags {
  readonly follow?: boolean;
}

const FOLLOW_POLL_MS = 250;
const TYPE_WIDTH = 22;
const SEQ_WIDTH = 5;
/** Lines are handed over in pieces of this size, so that a long log neither waits for its end nor goes line by line. */
const PIECE_CHARS = 64 * 1_024;
const LAST_EVENTS: ReadonlySet<EventType> = new Set(["run.completed", "run.failed", "run.canceled"]);

export function events(reference: RunReference, flags: EventsFlags, session: Session): Promise<number> {
  return withStore(session, async (store) => {
    const runId = await resolveRun(store, reference);
    const line = session.options.json ? jsonLine : await readableLines(store, runId);
    let piece = "";
    for await (const logged of flags.follow === true
      ? followLog(store, runId, flushPiece)
      : readLog(store, runId)) {
      piece += `${line(logged)}\n`;
      if (piece.length > PIECE_CHARS) flushPiece();
    }
    flushPiece();
    return 0;

    function flushPiece(): void {
      if (piece !== "") session.out.write(piece);
      piece = "";
    }
  });
}

function jsonLine({ seq, at, event }: LoggedEvent): string {
  return JSON.stringify({ seq, at: iso(at), ...event });
}

async function readableLines(store: Store, runId: number): Promise<(logged: LoggedEvent) => string> {
  const replay = await openReplay(store, runId);
  let startedAt: number | null = null;
  return (logged) => {
    startedAt ??= logged.at;
    const run = replay.fold(logged);
    const seq = String(logged.seq).padStart(SEQ_WIDTH);
    return `${seq} ${elapsed(logged.at - startedAt)}  ${logged.event.type.padEnd(TYPE_WIDTH)} ${eventText(run, logged.event)}`.trimEnd();
  };
}

/** Waits for more until the run is over. */
async function* followLog(store: Store, runId: number, beforeWait: () => void): AsyncGenerator<LoggedEvent> {
  for (let after = 0; ; ) {
    for await (const logged of readLog(store, runId, after)) {
      yield logged;
      after = logged.seq;
      if (LAST_EVENTS.has(logged.event.type)) return;
    }
    beforeWait();
    await delay(FOLLOW_POLL_MS);
  }
}
