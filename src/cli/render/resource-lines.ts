import { aboutSize, sizeText } from "../../core/text/amount-text.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { OutputOf } from "../../operations/client.js";
import { durationText } from "../../tell/words/duration-text.js";
import { tableLines } from "./columns.js";
import type { Paint } from "./paint.js";

type Resources = OutputOf<"get_resources">;
type Group = Resources["groups"][number];
type Finding = Group["findings"][number];

const AMOUNT: { readonly [resource in Finding["resource"]]: (amount: number) => string } = {
  cpus: (cpus) => String(Number(cpus.toFixed(1))),
  memory: aboutSize,
  runtime: durationText,
};
const WORDS = { cpus: "processors", memory: "memory", runtime: "runtime" } as const;

/** Describes a finding: `memory: asked for 4 GiB, used at most 210 MiB (20 times less)`. */
export function findingText({ kind, resource, asked, used, job }: Finding): string {
  const amount = AMOUNT[resource];
  if (kind === "asked_too_much")
    return `${WORDS[resource]}: asked for ${amount(asked)}, used at most ${amount(used)} (${Math.floor(asked / used)} times less)`;
  return `${WORDS[resource]}: ${amount(used)} of ${amount(asked)} (${Math.round((100 * used) / asked)}%)${job === null ? "" : ` in ${oneLine(job)}`}`;
}

/** Explains why no resources were used. A run that reused all of its jobs ends without an attempt of its own. */
export function nothingUsed({ status }: Resources): string {
  return status === "completed"
    ? "No attempt ran: jobs that were taken over count in the run that ran them."
    : "No attempt has ended yet.";
}

export function resourceLines(found: Resources, width: number, paint: Paint): string[] {
  const { run_id, workflow, jobs, attempts, measured, groups, groups_left_out } = found;
  const counts = [count(jobs, "job"), count(attempts, "attempt")].join(", ");
  const unmeasured = measured === attempts ? "" : ` (${measured.toLocaleString("en")} measured)`;
  const title = `Resources of run ${run_id} of ${oneLine(workflow)}: ${counts}${unmeasured}`;
  if (groups.length === 0) return [title, nothingUsed(found)];
  return [
    paint("bold", title),
    "",
    ...tableLines(HEADER, groups.map(cellsOf), width),
    ...(groups_left_out === 0 ? [] : [`... and ${groups_left_out} more (--limit)`]),
    ...sectionOf("Asked for ten times too much:", "asked_too_much", groups),
    ...sectionOf("Near a limit:", "near_limit", groups),
  ];
}

const HEADER = [
  "step",
  "jobs",
  "memory asked",
  "median",
  "most",
  "cpus asked",
  "most",
  "runtime asked",
  "median",
  "most",
];

function cellsOf({ name, jobs, asked, used }: Group): string[] {
  const told = (value: number | null | undefined, text: (value: number) => string): string =>
    value == null ? "" : text(value);
  return [
    ...[oneLine(name), jobs.toLocaleString("en"), told(asked.memory_bytes, sizeText)],
    ...[told(used.memory_bytes?.p50, aboutSize), told(used.memory_bytes?.max, aboutSize)],
    ...[told(asked.cpus, AMOUNT.cpus), told(used.cpus?.max, AMOUNT.cpus)],
    ...[told(asked.runtime_ms, durationText), told(used.runtime_ms?.p50, durationText)],
    told(used.runtime_ms?.max, durationText),
  ];
}

function sectionOf(title: string, kind: Finding["kind"], groups: readonly Group[]): string[] {
  const lines = groups.flatMap(({ name, findings, suggestion }) => {
    const own = findings.filter((finding) => finding.kind === kind);
    if (own.length === 0) return [];
    return [
      `  ${oneLine(name)}`,
      ...own.map((finding) => `    ${findingText(finding)}`),
      ...(suggestion === null ? [] : [`    ${suggestion}`]),
    ];
  });
  return lines.length === 0 ? [] : ["", title, ...lines];
}

function count(amount: number, what: string): string {
  return `${amount.toLocaleString("en")} ${what}${amount === 1 ? "" : "s"}`;
}
