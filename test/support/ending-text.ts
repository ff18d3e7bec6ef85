import type { LoggedEvent } from "../../src/core/model/events.js";
import type { JobRow } from "../../src/core/model/rows.js";
import type { Stage } from "./stage.js";

/** The events of a run's end, with the steps that they speak of: `undo.entered undo-b 1 of b`. */
export async function endingOf(stage: Stage): Promise<string[]> {
  const { log, jobs } = await stage.view();
  return endingText(log, jobs);
}

export function endingText(log: readonly LoggedEvent[], jobs: readonly JobRow[]): string[] {
  const names = new Map(
    jobs.map(({ id, step, scope }) => [id, scope === "root" ? step : `${step}${scope.slice("root".length)}`]),
  );
  const name = (id: number) => names.get(id) ?? String(id);
  return log.flatMap(({ event }) => {
    switch (event.type) {
      case "run.ending":
        return [`run.ending ${event.status}`];
      case "undo.started":
        return [`undo.started ${event.jobs.map(name).join(" ")}`];
      case "undo.entered":
        return [`undo.entered ${name(event.job)} ${event.visit} of ${name(event.of)}`];
      case "undo.left":
        return [`undo.left ${name(event.of)} ${event.undone}`];
      case "finally.entered":
        return [`finally.entered ${name(event.job)} ${event.visit}`];
      case "hold.resolved":
        return [`hold.resolved ${name(event.job)} ${event.action}`];
      case "run.held":
      case "run.cancel_requested":
      case "run.reopened":
      case "run.completed":
      case "run.failed":
      case "run.canceled":
        return [event.type];
      default:
        return [];
    }
  });
}
