import { createHash } from "node:crypto";
import { DarumaError } from "../core/errors/errors.js";
import { orderedJson } from "../core/text/json.js";
import type { Store } from "../store/store.js";
import type { Context } from "./context.js";
import type { Operation } from "./operation.js";

/** What is asked under a key beside the runs stands in the inbox of no run. */
const NO_RUN = 0;
/** How long a key is remembered there. Those of runs stay as long as their run. */
export const KEY_LIFE_MS = 7 * 24 * 3_600_000;

type Act = () => Promise<unknown>;

/** Calls with one key that come at once are done one after the other. */
const underWay = new WeakMap<Store, Map<string, Promise<unknown>>>();

/**
 * Executes an operation under a key, unless that was done before: then it returns the first answer. A refused request
 * is judged again. If the process dies before the answer is stored, the operation is executed again, so one that must
 * not be repeated has to handle its key itself.
 */
export async function once(
  { name }: Operation,
  { store, now }: Pick<Context, "store" | "now">,
  { key, ...asked }: { readonly key: string },
  act: Act,
): Promise<unknown> {
  const request = createHash("sha256").update(orderedJson(asked)).digest("hex");
  const calls = underWay.get(store) ?? new Map<string, Promise<unknown>>();
  underWay.set(store, calls);
  const place = `${name}/${key}`;
  for (;;) {
    const other = calls.get(place);
    if (other === undefined) break;
    await other.catch(() => {});
  }
  const call = actOnce(store, { place, request, at: now() }, act);
  calls.set(place, call);
  try {
    return await call;
  } finally {
    calls.delete(place);
  }
}

interface Asked {
  readonly place: string;
  readonly request: string;
  readonly at: number;
}

async function actOnce(store: Store, asked: Asked, act: Act): Promise<unknown> {
  const { place, request, at } = asked;
  await store.forgetCommands(NO_RUN, at - KEY_LIFE_MS);
  const id = await store.sendCommand({ runId: NO_RUN, key: place, command: request, at });
  const before = await answerOf(store, id, asked);
  if (before !== null) return before.answer;
  const unanswered = (await store.readInbox([NO_RUN])).find((entry) => entry.id === id);
  if (unanswered !== undefined && unanswered.command !== request) throw reused(place);
  let answer: unknown;
  try {
    answer = await act();
  } catch (error) {
    // Another server was faster with the same key, and what it did is why this one is refused.
    const first = await answerOf(store, id, asked);
    if (first === null) throw error;
    return first.answer;
  }
  await store.answerCommand(id, JSON.stringify({ request, answer }));
  return (await answerOf(store, id, asked))?.answer ?? answer;
}

/** The stored answer; null if there is none yet. Refuses a key that was given for something else. */
async function answerOf(
  store: Store,
  id: number,
  { place, request }: Asked,
): Promise<{ readonly answer: unknown } | null> {
  const text = await store.readAnswer(id);
  if (text === null) return null;
  const kept = JSON.parse(text) as { readonly request: string; readonly answer: unknown };
  if (kept.request !== request) throw reused(place);
  return kept;
}

function reused(place: string): DarumaError {
  const [name] = place.split("/", 1);
  return new DarumaError(
    "KEY_REUSED",
    `${name} was asked with this key before, but with a different request`,
  );
}
