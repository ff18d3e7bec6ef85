import type { Definition, StepDefinition } from "./definition.js";

/** They do what a text asks of them, so a hint can change their work. */
const TOLD: ReadonlySet<string> = new Set(["agent", "llm_call"]);

/**
 * Finds the agents and models whose work a step examines: those to which the file sends its failures back, else the
 * nearest that it depends on. Where it fails, they may have to work again rather than the step itself.
 */
export function workExaminer({
  steps,
  transitions,
}: Pick<Definition, "steps" | "transitions">): (id: string) => readonly StepDefinition[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const isTold = ({ action }: StepDefinition): boolean => TOLD.has(action.type);
  const anyTold = steps.some(isTold);
  return (id) => {
    const own = byId.get(id);
    if (own === undefined || !anyTold) return [];
    const layers = layersBefore(byId, own)
      .map((layer) => layer.filter(isTold))
      .filter((layer) => layer.length > 0);
    const edges = transitions.filter(({ from, on }) => from === id && on !== "success");
    const sentTo = new Set([own.onFail.goto, ...edges.map(({ to }) => to)]);
    const named = layers.flat().filter((step) => sentTo.has(step.id));
    return named.length > 0 ? named : (layers[0] ?? []);
  };
}

/** All that a step depends on, near ones first. */
function layersBefore(byId: ReadonlyMap<string, StepDefinition>, step: StepDefinition): StepDefinition[][] {
  const seen = new Set([step]);
  const layers: StepDefinition[][] = [];
  for (let layer = [step]; layer.length > 0; ) {
    const found = new Set(layer.flatMap(({ dependsOn }) => dependsOn.flat()));
    layer = [...found].flatMap((id) => byId.get(id) ?? []).filter((each) => !seen.has(each));
    for (const each of layer) seen.add(each);
    if (layer.length > 0) layers.push(layer);
  }
  return layers;
}
