import { z } from "zod";
import { type BookEntry, type Triage, triageState } from "../../core/book/book.js";
import { DarumaError } from "../../core/errors/errors.js";
import { iso } from "../../core/text/iso-time.js";
import { readBook } from "../../tell/failure-book.js";
import type { Context } from "../context.js";
import { moment, momentAfter } from "../moment.js";
import { operation } from "../operation.js";
import { redacted } from "../operator-words.js";
import { nameOfPrincipal } from "../put-command.js";
import { key, name } from "../schemas.js";
import { failureItem, signaturePrefix, signatureReference, toItems } from "./failure-item.js";
import { rollUpHere } from "./list-failures.js";

const MAX_ENTRIES = 1_000;
const MAX_OCCURRENCES = 20;
/** Others say something of the same failure, but nobody for long. */
const MAX_TRIES = 20;

const which = {
  signature: signatureReference,
  workflow: name.optional().describe("Only in this workflow."),
  step: z.string().max(10_000).optional().describe("Only in this step."),
};
interface Which {
  readonly signature: string;
  readonly workflow?: string | undefined;
  readonly step?: string | undefined;
}

const occurrence = z.object({
  run_id: z.number(),
  job_id: z.number(),
  workflow: z.string(),
  step: z.string(),
  scope: z.string(),
  attempt: z.number(),
  at: z.string(),
  rung: z.string(),
  sample: z.string(),
});

export const getFailure = operation({
  name: "get_failure",
  summary: "show one failure: where it occurs, what rescued it, its last occurrences",
  description: "One failure by its signature, in every step that has met it, with its last occurrences.",
  details: "Occurrences are of runs that are still there; the counts include pruned runs.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject(which),
  output: z.object({ items: z.array(failureItem), occurrences: z.array(occurrence) }),
  rest: { method: "GET", path: "/failures/{signature}" },
  cli: [
    {
      words: "failures show",
      positional: ["signature"],
      examples: ["daruma failures show 3f9a01bc", "daruma failures show 3f9a01bc --workflow release --json"],
    },
  ],
  handler: async (context, request) => {
    const { store, now } = context;
    await rollUpHere(context);
    const entries = await findEntries(context, request);
    const { signature, workflow, step } = { ...request, signature: entries[0]!.signature };
    const rows = await store.listBookRows({
      met: true,
      limit: MAX_OCCURRENCES,
      signature,
      ...(workflow === undefined ? {} : { workflow }),
      ...(step === undefined ? {} : { step }),
    });
    return {
      items: await toItems(store, entries, now()),
      occurrences: await Promise.all(
        rows.map(async ({ run_id, job_id, workflow: of, attempt, at, action, sample, ...row }) => {
          const job = await store.readJob(job_id);
          const place = { step: job?.step ?? row.step, scope: job?.scope ?? "root" };
          return { run_id, job_id, workflow: of, ...place, attempt, at: iso(at), rung: action ?? "", sample };
        }),
      ),
    };
  },
});

const triageInput = z.strictObject({
  action: z.enum(["note", "mute", "resolve"]).describe("What to do."),
  ...which,
  note: z.string().max(4_000).optional().describe("What is known about it."),
  link: z.string().max(2_000).optional().describe("Address of a page with more, such as an issue."),
  owner: z.string().max(200).optional().describe("Who looks after it."),
  until: moment.optional().describe("For mute: a duration such as 7d, or a date."),
  key,
});

export const triageFailure = operation({
  name: "triage_failure",
  summary: "note what is known about a failure, mute it for a time, or mark it resolved",
  description:
    "Says of a failure that it is known (`note`, with note, link, owner), muted for a time (`mute` with until), or gone (`resolve`). Routing never changes.",
  details:
    "A failure is new until somebody says something of it. A mute that is over leaves it known. A resolved failure that a run meets which was started, or retried by an operator, later is regressed. Without `workflow` and `step` it holds for every step that has met the failure.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input: triageInput,
  output: z.object({ items: z.array(failureItem) }),
  rest: { method: "POST", path: "/failures/{signature}/triage" },
  cli: [
    {
      words: "failures note",
      positional: ["signature"],
      preset: { action: "note" },
      summary: "note what is known about a failure",
      examples: ['daruma failures note 3f9a01bc --note "the registry limits us" --owner ana'],
    },
    {
      words: "failures mute",
      positional: ["signature"],
      preset: { action: "mute" },
      summary: "leave a failure out of the list for a time; it is still counted",
      examples: ["daruma failures mute 3f9a01bc --until 7d"],
    },
    {
      words: "failures resolve",
      positional: ["signature"],
      preset: { action: "resolve" },
      summary: "mark a failure as resolved; if it comes back it is regressed",
      examples: ['daruma failures resolve 3f9a01bc --note "fixed in 2.3"'],
    },
  ],
  handler: triage,
});

/** The entries of a failure, in every step that had it. Throws if several failures have the given beginning. */
async function findEntries(
  { store, now }: Pick<Context, "store" | "now">,
  { signature, workflow, step }: Which,
): Promise<BookEntry[]> {
  const found = await readBook(store, {
    now: now(),
    limit: MAX_ENTRIES,
    signature: signaturePrefix(signature),
    ...(workflow === undefined ? {} : { workflow }),
    ...(step === undefined ? {} : { step }),
  });
  const signatures = [...new Set(found.map((entry) => entry.signature))];
  if (signatures.length === 0)
    throw new DarumaError("FAILURE_NOT_FOUND", `no failure has a signature that begins with ${signature}`);
  if (signatures.length > 1)
    throw new DarumaError("FAILURE_AMBIGUOUS", `${signatures.length} failures begin with ${signature}`, {
      hint: `Give more of it: ${signatures.slice(0, 3).join(", ")}.`,
    });
  return found;
}

async function triage(context: Context, request: z.output<typeof triageInput>) {
  if (request.action === "mute" && request.until === undefined)
    throw new DarumaError("INVALID_INPUT", "until: say how long to mute it", {
      hint: "Give a duration such as 7d, or a date.",
    });
  const { store, now } = context;
  const entries = await findEntries(context, request);
  const words = await redactedWords(context, entries[0]!, request);
  for (const entry of entries) await say(context, entry, (present) => next(context, present, request, words));
  const changed = await findEntries(context, { ...request, signature: entries[0]!.signature });
  return { items: await toItems(store, changed, now()) };
}

const WORDS = ["note", "link", "owner"] as const;
type Words = { readonly [field in (typeof WORDS)[number]]?: string };

async function redactedWords(
  { store }: Context,
  { last_run }: BookEntry,
  request: z.output<typeof triageInput>,
): Promise<Words> {
  const words: { -readonly [field in keyof Words]: string } = {};
  for (const field of WORDS) {
    const text = request[field];
    if (text !== undefined) words[field] = await redacted(store, last_run, text);
  }
  return words;
}

/** Once more where somebody else has said something meanwhile. */
async function say(
  { store }: Pick<Context, "store">,
  entry: BookEntry,
  change: (entry: BookEntry) => Triage,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [present] = await store.readEntries([entry]);
    const now =
      present === undefined ? entry : { ...entry, ...triageOf(present), revision: present.revision };
    if (await store.writeTriage(now, change(now))) return;
  }
  throw new DarumaError("STORE_FAILED", `others keep changing the failure ${entry.signature}`);
}

function triageOf(entry: BookEntry): Triage {
  const { triage: state, note, link, owner, muted_until, triaged_at, triaged_by } = entry;
  return { triage: state, note, link, owner, muted_until, triaged_at, triaged_by };
}

function next(
  { now, principal }: Pick<Context, "now" | "principal">,
  entry: BookEntry,
  { action, until }: z.output<typeof triageInput>,
  words: Words,
): Triage {
  const at = now();
  const said = { ...triageOf(entry), ...words, triaged_by: nameOfPrincipal(principal) };
  if (action === "mute")
    return { ...said, triage: "muted", muted_until: momentAfter(until!, at), triaged_at: at };
  if (action === "resolve") return { ...said, triage: "resolved", muted_until: null, triaged_at: at };
  // A note leaves a mute and a resolution as they are, if they still hold.
  const state = triageState(entry, at);
  if (state === "muted" || state === "resolved") return said;
  return { ...said, triage: "known", muted_until: null, triaged_at: at };
}
