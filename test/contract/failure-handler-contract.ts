import { describe, expect, test } from "vitest";
import type { StoreUnderTest } from "./store-contract.js";
import { newWorkflow } from "./store-fixtures.js";

const RULES = '[{"exit_codes":[10,11],"match_all_exit_codes":false,"recovery_script":null,"max_retries":3}]';
const SCRIPT = "echo 'だるま 🎎' \"$DARUMA_JOB_ID\"\n";
const CATCH_ALL = JSON.stringify([
  { exit_codes: [], match_all_exit_codes: true, recovery_script: SCRIPT, max_retries: 1 },
]);

export function failureHandlerContract(under: StoreUnderTest): void {
  // Not in the order of their names, which must not matter.
  const failureHandlers = [
    { name: "restart", rules: RULES },
    { name: "clean up", rules: CATCH_ALL },
  ];
  const release = newWorkflow({ failureHandlers });

  describe("failure handlers", () => {
    test("are kept with their workflow and read by their ids, in the order of the file", {
      tags: ["T21"],
    }, async () => {
      const { store } = under;
      const { workflowId, failureHandlers: kept } = await store.registerWorkflow(release);
      expect(kept.map(({ name }) => name)).toEqual(["restart", "clean up"]);
      const rows = failureHandlers.map(({ name, rules }, i) => ({
        ...{ id: kept[i]?.id, workflow_id: workflowId },
        ...{ name, rules },
      }));
      expect(await Promise.all(kept.map(({ id }) => store.readFailureHandler(id)))).toEqual(rows);
      expect(await store.listFailureHandlers(workflowId)).toEqual(rows);
    });

    test("of the same version keep their ids, a new version gets its own", async () => {
      const { store } = under;
      const first = await store.registerWorkflow(release);
      const changed = await store.registerWorkflow({ ...release, hash: "h2" });
      const again = await store.registerWorkflow({ ...release, file: null, at: 9 });
      expect(again).toEqual(first);
      expect(changed.failureHandlers.map(({ name }) => name)).toEqual(["restart", "clean up"]);
      const ids = [first, changed].flatMap((version) => version.failureHandlers.map(({ id }) => id));
      expect(new Set(ids).size).toBe(4);
      expect((await store.listFailureHandlers()).map(({ id }) => id)).toEqual(ids);
    });

    test("of other workflows are not listed where one is named", async () => {
      const { store } = under;
      await store.registerWorkflow(release);
      const without = await store.registerWorkflow(newWorkflow({ name: "plain", hash: "h3" }));
      const other = await store.registerWorkflow({ ...release, name: "deploy" });
      expect(without.failureHandlers).toEqual([]);
      expect(await store.listFailureHandlers(without.workflowId)).toEqual([]);
      expect((await store.listFailureHandlers(other.workflowId)).map(({ id }) => id)).toEqual(
        other.failureHandlers.map(({ id }) => id),
      );
      expect(await store.listFailureHandlers()).toHaveLength(4);
      expect(await store.listFailureHandlers(404)).toEqual([]);
    });

    test("that are not there are not found", async () => {
      const { store } = under;
      expect(await store.readFailureHandler(1)).toBeNull();
      expect(await store.listFailureHandlers()).toEqual([]);
    });

    test("of one name in one workflow are refused, and nothing of the workflow is kept", {
      tags: ["T21"],
    }, async () => {
      const { store } = under;
      const twice = [...failureHandlers, { name: "restart", rules: "[]" }];
      await expect(store.registerWorkflow({ ...release, failureHandlers: twice })).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: "workflow release has two failure handlers named restart",
      });
      expect(await store.readDefinition(release.hash)).toBeNull();
      expect(await store.listFailureHandlers()).toEqual([]);
      expect(await store.registerWorkflow(release)).toMatchObject({ version: 1 });
    });

    test("are there when the store is opened again", async () => {
      const first = await under.store.registerWorkflow(release);
      const rows = await under.store.listFailureHandlers();
      const again = await under.reopen();
      expect(await again.registerWorkflow(release)).toEqual(first);
      expect(await again.listFailureHandlers()).toEqual(rows);
    });
  });
}
