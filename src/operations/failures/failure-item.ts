import { z } from "zod";
import { type BookEntry, TRIAGE_STATES, triageState } from "../../core/book/book.js";
import { DarumaError } from "../../core/errors/errors.js";
import { SIGNATURE_VERSION } from "../../core/failure/signature.js";
import { iso } from "../../core/text/iso-time.js";
import type { Store } from "../../store/store.js";
import { nameOf } from "../../tell/lookup/job-name.js";
import { rescueText } from "../../tell/words/remedy-words.js";
import type { Answer } from "../operation.js";

export const failureState = z.enum(TRIAGE_STATES);

const rescue = z.object({ by: z.string(), rescued: z.number(), not_rescued: z.number() });

export const failureItem = z.object({
  signature: z.string(),
  workflow: z.string(),
  step: z
    .string()
    .describe("As its file writes it: of a job with parameters in the batch form, the name with them."),
  state: failureState,
  code: z.string(),
  class: z.string(),
  sample: z.string(),
  first_seen: z.string(),
  last_seen: z.string(),
  occurrences: z.number(),
  runs: z.number(),
  last_run: z.number(),
  last_job: z.number(),
  last_step: z.string().nullable().describe("The name of `last_job` in its run; null: the run was pruned."),
  completed_since: z.number().nullable(),
  rescued_by: z.string(),
  rescues: z.array(rescue),
  note: z.string().nullable(),
  link: z.string().nullable(),
  owner: z.string().nullable(),
  muted_until: z.string().nullable(),
  triaged_at: z.string().nullable(),
  triaged_by: z.string().nullable(),
});
export type FailureItem = Answer<typeof failureItem>;

const MIN_HEX = 4;
const HEX = /^[0-9a-f]{4,64}$/;

export const signatureReference = z
  .string()
  .min(MIN_HEX)
  .max(80)
  .describe("A failure's signature, or its first characters.");

/** How signatures begin that this names. */
export function signaturePrefix(given: string): string {
  const [version, hex] = given.includes(":") ? given.split(":", 2) : [SIGNATURE_VERSION, given];
  if (!HEX.test(hex ?? "") || !/^v\d+$/.test(version ?? ""))
    throw new DarumaError("INVALID_INPUT", `${given} is not a signature`, {
      hint: "Copy it from the list of failures: hexadecimal digits, at least four.",
    });
  return `${version}:${hex}`;
}

/** Entries in the form that all interfaces show. */
export async function toItems(
  store: Pick<Store, "listRuns" | "readJob">,
  entries: readonly BookEntry[],
  now: number,
): Promise<FailureItem[]> {
  const newest = new Map<string, { readonly id: number; readonly at: number } | null>();
  for (const { workflow } of entries)
    if (!newest.has(workflow)) newest.set(workflow, await newestCompleted(store, workflow));
  return Promise.all(
    entries.map(async (entry) => {
      const completed = newest.get(entry.workflow) ?? null;
      const since = completed !== null && completed.at > entry.last_seen ? completed.id : null;
      return toItem(
        entry,
        { completedSince: since, lastStep: await storedJobName(store, entry.last_job) },
        now,
      );
    }),
  );
}

/** The job's name; null if its run is gone. */
export async function storedJobName(store: Pick<Store, "readJob">, id: number): Promise<string | null> {
  const job = await store.readJob(id);
  return job === null ? null : nameOf(job.step, job.scope);
}

async function newestCompleted(store: Pick<Store, "listRuns">, workflow: string) {
  const [run] = await store.listRuns({ workflow, status: ["completed"], limit: 1 });
  return run === undefined || run.finished_at === null ? null : { id: run.id, at: run.finished_at };
}

interface Beside {
  readonly completedSince: number | null;
  readonly lastStep: string | null;
}

function toItem(entry: BookEntry, { completedSince, lastStep }: Beside, now: number): FailureItem {
  const rescues = Object.entries(entry.rescues)
    .map(([by, { rescued, tried }]) => ({ by, rescued, not_rescued: tried }))
    .sort((a, b) => b.rescued - a.rescued || b.not_rescued - a.not_rescued || (a.by < b.by ? -1 : 1));
  const { signature, workflow, step, code, class: failureClass, sample } = entry;
  const { occurrences, runs, last_run, last_job, note, link, owner, triaged_by } = entry;
  return {
    ...{ signature, workflow, step, state: triageState(entry, now), code, class: failureClass, sample },
    first_seen: iso(entry.first_seen),
    last_seen: iso(entry.last_seen),
    ...{ occurrences, runs, last_run, last_job, last_step: lastStep, completed_since: completedSince },
    rescued_by: rescueText(rescues),
    ...{ rescues, note, link, owner },
    muted_until: isoOrNull(entry.muted_until),
    triaged_at: isoOrNull(entry.triaged_at),
    triaged_by,
  };
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}
