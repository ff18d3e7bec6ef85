import type { Store } from "./store.js";
import type { ColdVerbs } from "./verbs/verbs.js";
import { refuseMalformedWorkflow } from "./workflow-rules.js";

type ColdStore = Omit<ColdVerbs, "findRegistered"> & Pick<Store, "registerWorkflow">;

/** The port's part that all stores have in common, over verbs that a database carries out. */
export function createColdStore({ findRegistered, ...verbs }: ColdVerbs): ColdStore {
  return {
    ...verbs,
    async registerWorkflow(workflow) {
      refuseMalformedWorkflow(workflow);
      return (await findRegistered(workflow)) ?? verbs.registerWorkflow(workflow);
    },
  };
}
