import type { EventType } from "../../../../src/core/model/events.js";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { fieldsText } from "../../../../src/tell/words/event-text.js";

/** An event as the server sends it. */
export interface ShownEvent {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly step?: string;
  readonly scope?: string;
  readonly [field: string]: unknown;
}

const TONES: readonly (readonly [RegExp, string])[] = [
  [/failed$|exceeded$|dead_lettered$/, "bad"],
  [/succeeded$|completed$/, "ok"],
  [
    /^(ladder|retry|rule|reset|remediation|goto|edge|requeue|restart|recovery|routes|undo|finally)\.|parked$/,
    "gold-t",
  ],
  [/^(hold|human|operator|jobs\.retried|run\.(paused|unpaused|cancel_requested|reopened))/, "person"],
];

/** The meaning that determines the colour of an event's name. */
export function toneOf(type: string): string {
  return TONES.find(([pattern]) => pattern.test(type))?.[1] ?? "dim";
}

/** An event's text after its name and its job, in the same words as on the command line. */
export function textOf(
  event: ShownEvent,
  names: ReadonlyMap<number, string>,
): { readonly job: string | null; readonly text: string } {
  const { seq: _seq, at: _at, step, scope, by, ...rest } = event;
  const job = step === undefined ? null : nameOf(step, scope ?? "root");
  const { job: _job, ...others } = rest;
  const text = fieldsText(
    (job === null ? rest : others) as { readonly type: EventType },
    (id) => names.get(id) ?? null,
  );
  return { job, text: typeof by === "string" ? `${text}${text === "" ? "" : ", "}by ${by}` : text };
}
