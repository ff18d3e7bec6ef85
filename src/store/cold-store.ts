import type { ChangeListeners } from "./change-listeners.js";
import type { Store } from "./store.js";
import { type ColdVerbs, changeOf, TELLS } from "./verbs/verbs.js";
import { refuseMalformedWorkflow } from "./workflow-rules.js";

type ColdStore = Omit<ColdVerbs, "findRegistered" | "answerCommand" | "count"> &
  Pick<Store, "registerWorkflow" | "answerCommand" | "count">;

/** The port's part that all stores have in common, over verbs that a database carries out. */
export function createColdStore(verbs: ColdVerbs, listeners: ChangeListeners): ColdStore {
  const { findRegistered, ...rest } = { ...verbs, ...telling(verbs, listeners) };
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

/** Those of which others are told: here at once. */
function telling(verbs: ColdVerbs, listeners: ChangeListeners): Pick<ColdVerbs, keyof typeof TELLS> {
  const asked = verbs as unknown as { readonly [name: string]: (...args: unknown[]) => Promise<unknown> };
  const told = Object.keys(TELLS).map((name) => [
    name,
    async (...args: unknown[]) => {
      const answer = await asked[name]!(...args);
      const change = changeOf(name, answer, args);
      if (change !== null) listeners.tell(change.kind, change.runId);
      return answer;
    },
  ]);
  return Object.fromEntries(told) as Pick<ColdVerbs, keyof typeof TELLS>;
}
