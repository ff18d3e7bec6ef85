import { createHash } from "node:crypto";
import { DarumaError } from "../../core/errors/errors.js";
import type { RunCause } from "../../core/model/events.js";
import { orderedJson } from "../../core/text/json.js";
import type { Store } from "../../store/store.js";
import { toStorableText } from "../../store/stored-text.js";

/** The cause of a run that somebody starts under a key; `asked` is all that he asks for. */
export function causeOfKey(key: string, asked: object): RunCause {
  const request = createHash("sha256").update(orderedJson(asked)).digest("hex");
  return { mark: `key/${toStorableText(key)}`, request };
}

/** The run that this cause has made already, or null. A key that was given for something else is refused. */
export async function findRunOf(store: Store, { mark, request }: RunCause): Promise<number | null> {
  const [run] = await store.listRuns({ cause: mark, limit: 1 });
  if (run === undefined) return null;
  const [first] = await store.readEvents(run.id, { limit: 1 });
  const before = first?.event.type === "run.created" ? (first.event.cause?.request ?? null) : null;
  if (request !== null && before !== null && request !== before)
    throw new DarumaError(
      "KEY_REUSED",
      `run ${run.id} was started with this key, but with a different request`,
    );
  return run.id;
}

/** The run of a faster caller with the same cause, which is the one that was requested. */
export async function orRunOf(store: Store, cause: RunCause | undefined, error: unknown): Promise<number> {
  const isTaken = error instanceof DarumaError && error.code === "CAUSE_TAKEN";
  const first = cause === undefined || !isTaken ? null : await findRunOf(store, cause);
  if (first === null) throw error;
  return first;
}
