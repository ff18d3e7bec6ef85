import { describe, expect, it } from "vitest";
import { drain } from "../../src/core/decide/agenda.js";
import { decide } from "../../src/core/decide/decide.js";
import { Decision } from "../../src/core/decide/decision.js";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { Definition } from "../../src/core/model/definition.js";
import type { Event } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Run } from "../../src/core/model/run.js";
import { definitionOf } from "../support/workflow-text.js";
import { PLAIN_OPTIONS } from "./drive.js";

const NOW = 1_700_000_000_000;

function created(definition: Definition): Run {
  const event: Event = {
    type: "run.created",
    workflow: definition.name,
    workflow_id: 1,
    definition_hash: "hash",
    inputs: {},
    context: {},
    options: PLAIN_OPTIONS,
    folder: "/",
    file: null,
    parent: null,
    managed: false,
    failure_handlers: [],
  };
  const run = newRun(1, definition, event, NOW);
  evolve(run, event, NOW);
  return run;
}

const emptyDecision = () => new Decision(created(definitionOf("steps: { a: { type: noop } }")), NOW);

describe("the agenda of a decision", () => {
  it("is taken depth first: what an item adds comes in that order, before what was there", () => {
    const decision = emptyDecision();
    const seen: string[] = [];
    const see = (name: string, ...more: (() => void)[]) => {
      return () => {
        seen.push(name);
        for (const item of more) decision.add(item);
      };
    };
    decision.add(see("1", see("1.1", see("1.1.1")), see("1.2")));
    decision.add(see("2", see("2.1")));
    drain(decision);
    expect(seen).toEqual(["1", "1.1", "1.1.1", "1.2", "2", "2.1"]);
    expect(decision.take()).toBeUndefined();
  });

  it("refuses an event after an item was added: the log would not have them in order", () => {
    const decision = emptyDecision();
    decision.add({ kind: "barriers" });
    expect(() => decision.emit({ type: "run.started" })).toThrow("run.started");
    expect(decision.events).toEqual([]);
    drain(decision);
    decision.emit({ type: "run.started" });
    expect(decision.events).toEqual([{ type: "run.started" }]);
  });

  it("is no deeper for a longer chain: a fork near the end of 5,000 steps reuses all before it", () => {
    const count = 5_000;
    const steps = Array.from({ length: count }, (_, index) => {
      const needs = index === 0 ? "" : `, depends_on: [s${index - 1}]`;
      return `  s${index}: { type: noop${needs} }`;
    });
    const run = created(definitionOf(`steps:\n${steps.join("\n")}\n`));
    const reuse = Array.from({ length: count - 1 }, (_, index) => ({
      scope: "root",
      step: `s${index}`,
      output: { kind: "value" as const, value: index },
      items: null,
      origin: { run: 7, attempt: 1 },
    }));
    decide(run, { type: "run.fork", from: 7, step: `s${count - 1}`, reason: "", reuse }, NOW);
    const events = decide(run, { type: "run.start" }, NOW);
    expect(events.map(({ type }) => type)).toEqual([
      "run.started",
      ...reuse.map(() => "job.reused"),
      "jobs.ready",
    ]);
    expect([...run.ready].map((job) => job.step.definition.id)).toEqual([`s${count - 1}`]);
  });
});
