import type { Decision } from "../../core/model/rows.js";
import { nameOf } from "../lookup/job-name.js";

/** Callers of whom nobody knows who they are: a token has a name, and so has an agent. */
const NAMELESS: ReadonlySet<string> = new Set(["command line", "local", "mcp", "program"]);

/** The name of who asked; null: it says nobody's name. */
export function personIn(by: string | null | undefined): string | null {
  return by == null || NAMELESS.has(by) ? null : by;
}

const DONE: Readonly<Record<Decision["how"], string>> = { skip: "skipped", complete: "completed" };

/** `skipped by ann`, `completed by hand`, `skipped when its hold expired`. */
export function decisionText({ how, by, expired }: Decision): string {
  return `${DONE[how]} ${expired ? "when its hold expired" : `by ${personIn(by) ?? "hand"}`}`;
}

/** `train skipped by ann`. */
export function decidedText(job: Decision & { readonly step: string; readonly scope: string }): string {
  return `${nameOf(job.step, job.scope)} ${decisionText(job)}`;
}
