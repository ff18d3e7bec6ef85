import type { ChangeListeners } from "./change-listeners.js";
import type { Store } from "./store.js";
import { type ColdVerbs, changeOf } from "./verbs/verbs.js";
import { refuseMalformedWorkflow } from "./write-rules.js";

type ColdStore = Omit<ColdVerbs, "findRegistered" | "answerCommand" | "count"> &
  Pick<Store, "registerWorkflow" | "answerCommand" | "count">;

/** The part of the port that is common to all stores, over verbs that a database executes. */
export function createColdStore(verbs: ColdVerbs, listeners: ChangeListeners): ColdStore {
  const { findRegistered, ...rest } = telling(verbs, listeners);
  return {
    ...rest,
    count: rest.count as Store["count"],
    async answerCommand(id, answer) {
      await rest.answerCommand(id, answer);
    },
    async registerWorkflow(workflow) {
      refuseMalformedWorkflow(workflow);
      return (await findRegistered(workflow)) ?? rest.registerWorkflow(workflow);
    },
  };
}

/** Makes verbs notify the listeners of this object as soon as other objects are notified. */
function telling(verbs: ColdVerbs, listeners: ChangeListeners): ColdVerbs {
  const asking = Object.entries(verbs).map(([name, ask]) => [
    name,
    async (...args: unknown[]) => {
      const answer = await (ask as (...args: unknown[]) => Promise<unknown>)(...args);
      const change = changeOf(name, answer, args);
      if (change !== null) listeners.tell(change.kind, change.runId);
      return answer;
    },
  ]);
  return Object.fromEntries(asking) as ColdVerbs;
}
