import { oneLine } from "../../core/text/plain-text.js";
import { nameOf } from "../../tell/lookup/job-name.js";
import type { FileTrouble, NeverReused, WhyItRuns } from "./reasons.js";

const NEVER: Readonly<Record<NeverReused, string>> = {
  reuse_false: "the step has reuse: false",
  ephemeral_data: "it writes user data that starts again in each run",
  human: "people are asked in every run",
  child_workflow: "child workflows always run",
  workspace: "it works in the workspace, and every run has its own",
};

const TROUBLE: Readonly<Record<FileTrouble, string>> = {
  changed: "has changed",
  missing: "is missing",
  unreadable: "cannot be read",
  not_a_file: "is not a plain file, so its content is not compared",
  not_recorded: "was not recorded",
};

/** A short text that can follow the name of a job. */
export function whyText(why: WhyItRuns): string {
  switch (why.kind) {
    case "new_step":
      return "the step is new";
    case "definition":
      return `its definition has changed: ${why.keys.join(", ")}`;
    case "inputs":
    case "context":
      return `${why.kind === "inputs" ? "inputs have" : "the context has"} changed: ${why.names.join(", ")}`;
    case "secrets":
      return "the list of secrets has changed";
    case "folder":
      return "the workflow's folder is another one";
    case "never":
      return NEVER[why.because];
    case "not_completed":
      return why.status === "completed"
        ? "what follows its success was not finished"
        : `it did not complete: ${why.status}`;
    case "stood_in":
      return `it failed, and ${why.by} stood in for it`;
    case "by_hand":
      return "its end was decided by hand";
    case "undone":
      return "it was undone";
    case "input_file":
      return `the input file ${oneLine(why.path)} ${TROUBLE[why.file]}`;
    case "output_file":
      return `the output file ${oneLine(why.path)} ${TROUBLE[why.file]}`;
    case "output_gone":
      return "its output is no longer stored";
    case "dependency":
      return `it depends on ${nameOf(why.job.step, why.job.scope)}, which runs`;
    case "routing":
      return `${nameOf(why.job.step, why.job.scope)} led to it or follows from it, and runs`;
  }
}
