import { type FanPaths, type FanProblem, fanPaths, MAX_FAN_OUT_DEPTH } from "../../core/model/fan-out.js";
import { childPath } from "../read/path.js";
import type { Findings } from "../read/problem.js";
import { quote } from "../read/suggest.js";
import type { StepGraph } from "./step-graph.js";

/** Returns the fan-outs around each step. */
export function validateFanOut(graph: StepGraph, findings: Findings): readonly (readonly string[])[] {
  const { paths, problems } = fanOutOf(graph);
  for (const problem of problems) {
    const index = graph.indexOf.get(problem.step)!;
    if (graph.doubtful[index] === 0) reportFanProblem(problem, index, graph, findings);
  }
  for (const { id, raw } of graph.entries) {
    const needs = raw?.keys.needs;
    if (needs?.value === "settled" && raw?.keys.fanout?.value === "reduce") {
      const message = `\`needs: settled\` on ${quote(id)} contradicts its join`;
      const hint = "Remove `needs`; `join` says how many branches must complete.";
      findings.error({ code: "FAN_OUT", message, hint, at: needs.at, path: needs.path });
    }
    const join = raw?.keys.join;
    if (join === undefined || raw?.keys.fanout?.value === "reduce") continue;
    const message = `\`join\` on ${quote(id)} has no branches to count`;
    findings.error({
      code: "FAN_OUT",
      message,
      hint: "Add `fanout: reduce`, or remove `join`.",
      at: join.at,
      path: join.path,
    });
  }
  return graph.entries.map(({ id }) => paths.get(id)!);
}

export function fanOutOf({ entries, dependsOn }: StepGraph): FanPaths {
  return fanPaths(
    entries.map(({ id, raw }, index) => ({
      id,
      dependsOn: dependsOn[index]!,
      forEach: raw?.keys.forEach ?? false,
      reduce: raw?.keys.fanout?.value === "reduce",
    })),
  );
}

function reportFanProblem(
  problem: FanProblem,
  index: number,
  graph: StepGraph,
  findings: Findings,
): undefined {
  const entry = graph.entries[index]!;
  const name = quote(problem.step);
  switch (problem.kind) {
    case "crossed": {
      const at = graph.groups[index]![0]?.[0]?.at ?? entry.at;
      const message = `${name} is inside two different open fan-outs: ${renderPath(problem.first)} and ${renderPath(problem.second)}`;
      const hint = "Close one of them with a `fanout: reduce` step first.";
      return findings.error({
        code: "FAN_OUT",
        message,
        hint,
        at,
        path: childPath(entry.path, "depends_on"),
      });
    }
    case "nothing_to_reduce": {
      const place = entry.raw?.keys.fanout ?? entry;
      const message = `${name} has nothing to reduce: it is not inside an open fan-out`;
      const hint = "Depend on a step that follows a `forEach: true` step, or remove `fanout: reduce`.";
      return findings.error({ code: "FAN_OUT", message, hint, at: place.at, path: place.path });
    }
    case "too_deep": {
      const message = `${name} opens a fan-out within ${MAX_FAN_OUT_DEPTH} others`;
      return findings.error({
        code: "FAN_OUT",
        message,
        hint: "Close some of them with `fanout: reduce`.",
        at: entry.at,
        path: entry.path,
      });
    }
    default:
      return problem satisfies never;
  }
}

export function renderPath(path: readonly string[]): string {
  return path.length === 0 ? "no fan-out" : path.map((id) => `\`${id}\``).join(" > ");
}
