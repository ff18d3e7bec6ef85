import { expect, test } from "vitest";
import { ACTION_TRAITS, BUILT_IN_ACTIONS } from "../../core/model/action-traits.js";
import type { ProcessHost } from "../process/process-host.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { builtInActions, workerActions } from "./built-in-actions.js";

/** None of the makers uses its ports before an attempt. */
const ports = {
  processes: {} as ProcessHost,
  sandbox: {} as Sandbox,
  children: { run: () => Promise.reject(new Error("not reached")) },
};

test("a worker on another machine has the actions that any worker can do, under their own types", () => {
  const types = workerActions(ports).map(({ type }) => type);
  expect([...types].sort()).toEqual(
    BUILT_IN_ACTIONS.filter((type) => ACTION_TRAITS[type].doneBy === "worker").sort(),
  );
  expect(types).not.toContain("workflow");
});

test("the engine's own worker has every action but what people do", () => {
  const types = builtInActions(ports).map(({ type }) => type);
  expect([...types].sort()).toEqual(BUILT_IN_ACTIONS.filter((type) => type !== "human").sort());
});
