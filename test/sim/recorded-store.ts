import { isDeepStrictEqual } from "node:util";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";

type Answer = { readonly value: unknown } | { readonly code: unknown; readonly message: string };

/** One call of a store, and what it answered. */
export interface RecordedCall {
  readonly verb: keyof Store;
  readonly args: readonly unknown[];
  readonly answer: Answer;
}

/** These hand out functions or end things; they are no part of what is stored. */
const NOT_RECORDED: ReadonlySet<string> = new Set(["failNextCommit", "reopen", "onChange", "close"]);

/**
 * A memory store that writes down every call with its answer. A commit that was made to fail is written down as what
 * became of it: nothing, or a commit that was done although its answer was lost.
 */
export function recordCalls(): { readonly store: MemoryStore; readonly calls: RecordedCall[] } {
  const inner = createMemoryStore();
  const calls: RecordedCall[] = [];
  let isNextCommit: "sound" | "lost" | "undone" = "sound";
  const record = async (verb: keyof Store, args: readonly unknown[]): Promise<unknown> => {
    const fate = verb === "commit" ? isNextCommit : "sound";
    if (verb === "commit") isNextCommit = "sound";
    const given = structuredClone(args);
    const place = calls.length;
    // The place is taken now: calls at once are done in the order in which they are made.
    calls.push({ verb, args: given, answer: { value: undefined } });
    const outcome = (inner[verb] as (...all: unknown[]) => Promise<unknown>)(...args);
    const answer = await observe(outcome);
    if (fate === "undone") calls[place] = { verb: "ping", args: [], answer: { value: undefined } };
    else calls[place] = { verb, args: given, answer: fate === "lost" ? { value: undefined } : answer };
    return outcome;
  };
  const store = new Proxy(inner, {
    get: (target, name: keyof MemoryStore) => {
      if (name === "failNextCommit") {
        return (error: Error, how: { readonly applied: boolean }) => {
          isNextCommit = how.applied ? "lost" : "undone";
          target.failNextCommit(error, how);
        };
      }
      if (NOT_RECORDED.has(name)) return target[name];
      return (...args: readonly unknown[]) => record(name as keyof Store, args);
    },
  });
  return { store, calls };
}

/** Make the same calls on another store; the first answer that differs, in words, or null. */
export async function replay(calls: readonly RecordedCall[], store: Store): Promise<string | null> {
  for (const [index, { verb, args, answer }] of calls.entries()) {
    const again = await observe((store[verb] as (...all: unknown[]) => Promise<unknown>)(...args));
    if (!isDeepStrictEqual(again, answer)) {
      const [was, is] = [answer, again].map((each) => JSON.stringify(each));
      return `call ${index + 1}, ${verb}(${JSON.stringify(args)}), answered ${was} and now ${is}`;
    }
  }
  return null;
}

async function observe(outcome: Promise<unknown>): Promise<Answer> {
  try {
    return { value: structuredClone(await outcome) };
  } catch (error) {
    const { message } = error as Error;
    return { code: error instanceof Error && "code" in error ? error.code : null, message };
  }
}
