import fc from "fast-check";
import { expect, test } from "vitest";
import { DarumaError } from "../../src/core/errors/errors.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Append, Store } from "../../src/store/store.js";
import { openInFreshSchema } from "../support/embedded-postgres.js";
import { openInFreshFolder } from "./sqlite-folder.js";
import {
  attemptRow,
  canceledEvent,
  checkpointRow,
  FAILURE,
  jobRow,
  mustAcquire,
  newWorkflow,
  OWNER,
  RIVAL,
  routeRow,
  runRow,
} from "./store-fixtures.js";

const SEQUENCES = Number(process.env.DARUMA_SEQUENCES ?? 10);
const CALLS_PER_SEQUENCE = 60;
const TIMEOUT_MS = 300_000;
const LAST_RUN = 3;

const JOB_STATUSES = ["blocked", "waiting", "failed", "completed"] as const;
const PARENT = { run_id: 1, job_id: 7 };

/** A call of the port, with words that name it when a sequence fails. */
interface Call {
  readonly words: string;
  make(store: Store): Promise<unknown>;
}

const runId = fc.integer({ min: 1, max: LAST_RUN });
const owner = fc.constantFrom(OWNER, RIVAL);
const time = fc.integer({ min: 0, max: 30 });
const fence = fc.integer({ min: 1, max: 4 });
const text = fc.string({ unit: "grapheme", maxLength: 8 });
const anyText = fc.oneof(text, fc.constantFrom("a\0b", "\uD800"));

/**
 * The true token and log end are looked up when the call is made, then moved by these: most commits succeed, some are
 * stale or leave a gap, the same way on every store.
 */
const appendPlan = fc.record({
  runId,
  fenceOff: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, -1),
  seqOff: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, -1),
  events: fc.array(anyText, { maxLength: 4 }),
  withRun: fc.constantFrom(true, true, true, false),
  status: fc.constantFrom("running", "failed", "held"),
  marks: fc.record({ managed: fc.boolean(), wanted: fc.boolean() }),
  workflow: fc.constantFrom("w1", "w2"),
  parent: fc.constantFrom(null, PARENT, { ...PARENT, job_id: 8 }),
  jobs: fc.array(
    fc.record({
      n: fc.integer({ min: 1, max: 40 }),
      status: fc.constantFrom(...JOB_STATUSES),
      step: text,
      handled: fc.boolean(),
      dead: fc.boolean(),
      handler: fc.boolean(),
      output: fc.jsonValue(),
    }),
    {
      maxLength: 40,
    },
  ),
  attempts: fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }), fc.boolean())),
  routes: fc.array(anyText, { maxLength: 3 }),
  checkpoints: fc.array(
    fc.record({
      ordinal: fc.integer({ min: 1, max: 4 }),
      diff_hash: fc.constantFrom(null, "p1", "p2"),
      changed_files: fc.array(anyText, { maxLength: 3 }),
      ...{ stored: fc.boolean(), superseded: fc.boolean() },
    }),
    { maxLength: 4 },
  ),
});
type AppendPlan = typeof appendPlan extends fc.Arbitrary<infer Plan> ? Plan : never;

/** A run keeps its cause; some runs have the same, of which only one can be there. */
function causeOf(runId: number): string | null {
  return [null, "x", "x", "y"][runId % 4]!;
}

async function toAppend(store: Store, plan: AppendPlan, earlier: readonly Append[]): Promise<Append> {
  const id = plan.runId;
  const handlers = await store.listFailureHandlers();
  const current = (await store.readLease(id))?.fence ?? 1;
  const before = earlier.filter((append) => append.runId === id).flatMap(({ events }) => events).length;
  const firstSeq = (await store.readEvents(id)).length + before + 1 + plan.seqOff;
  return {
    runId: id,
    fence: current + plan.fenceOff,
    firstSeq,
    events: plan.events.map((reason) => canceledEvent(reason)),
    run: plan.withRun
      ? runRow(id, {
          ...{ status: plan.status, workflow: plan.workflow, parent: plan.parent },
          ...{ workflow_id: plan.workflow === "w1" ? 1 : 2, ...plan.marks, cause: causeOf(id) },
        })
      : null,
    jobs: plan.jobs.map(({ n, status, step, handled, dead, handler, output }) =>
      jobRow(id, n, {
        ...{ status, step, handled, dead_letter: dead, output: { kind: "value", value: output as null } },
        failure_handler_id: handler ? (handlers[n % handlers.length]?.id ?? null) : null,
      }),
    ),
    attempts: plan.attempts.map(([n, attempt, failed]) =>
      attemptRow(id, n, attempt, failed ? { status: "failed", error: FAILURE } : {}),
    ),
    routes: plan.routes.map((reason) => routeRow(id, firstSeq, { reason })),
    checkpoints: plan.checkpoints.map(({ ordinal, ...changes }) => checkpointRow(id, ordinal, changes)),
  };
}

const commit = fc.array(appendPlan, { minLength: 1, maxLength: 2 }).map(
  (plans): Call => ({
    words: `commit ${JSON.stringify(plans)}`,
    make: async (store) => {
      const appends: Append[] = [];
      for (const plan of plans) appends.push(await toAppend(store, plan, appends));
      await store.commit(appends);
      return "committed";
    },
  }),
);

function call<Args extends unknown[]>(
  name: string,
  args: fc.Arbitrary<Args>,
  make: (store: Store, ...args: Args) => Promise<unknown>,
): fc.Arbitrary<Call> {
  return args.map((values) => ({
    words: `${name} ${JSON.stringify(values)}`,
    make: (store) => make(store, ...values),
  }));
}

const acquire = call(
  "acquireLease",
  fc.tuple(runId, owner, time, fc.option(fence, { nil: undefined })),
  (store, id, by, now, evenFrom) =>
    store.acquireLease({
      runId: id,
      owner: by,
      now,
      expiresAt: now + 5,
      ...(evenFrom === undefined ? {} : { evenFrom }),
    }),
);
const renew = call(
  "renewLeases",
  fc.tuple(fc.uniqueArray(fc.record({ runId, fence }), { selector: (held) => held.runId }), time),
  (store, leases, now) => store.renewLeases(leases, now, now + 5),
);
const release = call("releaseLease", fc.tuple(runId, fence), (store, ...args) => store.releaseLease(...args));
const send = call(
  "sendCommand",
  fc.tuple(runId, fc.constantFrom("k1", "k2"), anyText),
  (store, id, key, command) => store.sendCommand({ runId: id, key, command, at: 1 }),
);
const answer = call("answerCommand", fc.tuple(fc.integer({ min: 1, max: 7 }), anyText), (store, ...args) =>
  store.answerCommand(...args),
);
const register = call(
  "registerWorkflow",
  fc.tuple(
    fc.constantFrom("w1", "w2"),
    fc.constantFrom("h1", "h2", "h3"),
    fc.array(fc.record({ name: fc.constantFrom("f1", "f2", "f3", "f4"), rules: text }), { maxLength: 3 }),
    fc.option(anyText, { nil: undefined }),
    fc.option(anyText, { nil: undefined }),
  ),
  (store, name, hash, failureHandlers, source, written) => {
    const known = { name, hash, definition: `"${hash}"`, failureHandlers };
    const texts = {
      ...(source === undefined ? {} : { source }),
      ...(written === undefined ? {} : { written }),
    };
    return store.registerWorkflow(newWorkflow({ ...known, ...texts }));
  },
);
const reserve = call("reserveRunId", fc.tuple(), (store) => store.reserveRunId());
const list = call(
  "listRuns",
  fc.tuple(
    fc.record(
      {
        status: fc.subarray(["running", "failed", "held"] as const),
        workflow: fc.constantFrom("w1", "w2"),
        parentJob: fc.constantFrom(7, 8, 9),
        parentRun: fc.constantFrom(0, 1),
        cause: fc.constantFrom("x", "y", "z"),
        limit: fc.integer({ min: 0, max: 3 }),
        beforeId: fc.integer({ min: 0, max: LAST_RUN + 1 }),
      },
      { requiredKeys: [] },
    ),
  ),
  (store, filter) => store.listRuns(filter),
);
const handler = call(
  "readFailureHandler and listFailureHandlers",
  fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 7 })),
  async (store, id, workflow) => [
    await store.readFailureHandler(id),
    await store.listFailureHandlers(workflow),
  ],
);
const follow = call(
  "readEvents",
  fc.tuple(runId, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 4 })),
  (store, id, afterSeq, limit) => store.readEvents(id, { afterSeq, limit }),
);

const claim = call(
  "claimRuns",
  fc.tuple(owner, time, fc.integer({ min: 0, max: LAST_RUN })),
  (store, by, now, limit) => store.claimRuns({ owner: by, now, expiresAt: now + 5, limit }),
);
/** Given back first, else no sequence would delete many. */
/** A run that is still leased is often ended and given back first: few others would ever be deleted. */
const remove = call(
  "end, releaseLease and deleteRun",
  fc.tuple(runId, fc.boolean()),
  async (store, id, isEnded) => {
    const lease = await store.readLease(id);
    if (isEnded && lease !== null) {
      const firstSeq = (await store.readEvents(id)).length + 1;
      const run = runRow(id, { status: "failed", cause: causeOf(id) });
      const nothing = { jobs: [], attempts: [], routes: [] };
      await store.commit([{ runId: id, fence: lease.fence, firstSeq, events: [], run, ...nothing }]);
      await store.releaseLease(id, lease.fence);
    }
    return store.deleteRun(id);
  },
);
const patch = call(
  "putPatch",
  fc.tuple(runId, fc.constantFrom("p1", "p2"), fc.uint8Array({ maxLength: 8 })),
  async (store, id, diffHash, bytes) =>
    (await store.readRun(id)) === null ? "no run" : store.putPatch({ runId: id, diffHash, bytes }),
);
const snapshot = call(
  "putSnapshot",
  fc.tuple(runId, fc.integer({ min: 1, max: 9 }), fc.uint8Array({ maxLength: 8 })),
  async (store, id, seq, bytes) => {
    if ((await store.readRun(id)) === null) return "no run";
    await store.putSnapshot({ runId: id, seq, version: "v1", sha256: "s", bytes });
    const { bytes: found, ...rest } = (await store.readSnapshot(id))!;
    return { ...rest, bytes: Array.from(found) };
  },
);
const draftName = fc.constantFrom("d1", "d2");
const draft = call(
  "saveDraft",
  fc.tuple(draftName, anyText, fc.option(fc.integer({ min: 0, max: 3 })), time),
  (store, name, source, basedOn, at) => store.saveDraft({ name, source, basedOn, at }),
);
const dropDraft = call("deleteDraft", fc.tuple(draftName), (store, name) => store.deleteDraft(name));
const token = call(
  "putToken",
  fc.tuple(anyText, fc.constantFrom("t1", "t2", "t3"), time, fc.option(time)),
  (store, name, hash, at, expiresAt) => store.putToken({ name, role: "viewer", hash, at, expiresAt }),
);
const revoke = call("revokeToken", fc.tuple(fc.integer({ min: 1, max: 3 }), time), (store, ...args) =>
  store.revokeToken(...args),
);
const page = { limit: fc.integer({ min: 0, max: 3 }) };
const versions = call(
  "listWorkflows",
  fc.tuple(
    fc.record(
      { ...page, name: fc.constantFrom("w1", "w2"), beforeId: fc.integer({ min: 0, max: 7 }) },
      { requiredKeys: [] },
    ),
  ),
  (store, filter) => store.listWorkflows(filter),
);
const jobs = call(
  "listJobs",
  fc.tuple(
    fc.record(
      {
        ...{ ...page, runId, step: text, workflowId: fc.constantFrom(1, 2) },
        status: fc.subarray([...JOB_STATUSES]),
        deadLetter: fc.constant(true as const),
        afterId: fc.constantFrom(10_000_003, 20_000_001),
      },
      { requiredKeys: [] },
    ),
  ),
  (store, filter) => store.listJobs(filter),
);

const anyCall = fc.oneof(
  { weight: 12, arbitrary: commit },
  { weight: 8, arbitrary: acquire },
  { weight: 3, arbitrary: remove },
  ...[renew, release, send, answer, register, reserve, list, handler, follow].map(rarely),
  ...[patch, snapshot, claim, draft, dropDraft, token, revoke, versions, jobs].map(rarely),
);

function rarely(arbitrary: fc.Arbitrary<Call>): { weight: number; arbitrary: fc.Arbitrary<Call> } {
  return { weight: 1, arbitrary };
}

/** What a caller sees: the value or the refusal. */
async function observe(
  work: () => Promise<unknown>,
): Promise<{ value: unknown } | { code: string; message: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof DarumaError)) throw error;
    return { code: error.code, message: error.message };
  }
}

async function everything(store: Store): Promise<unknown> {
  const runs: unknown[] = [];
  for (let id = 1; id <= LAST_RUN; id += 1) {
    runs.push(await store.readRun(id), await store.readEvents(id), await store.readJobs(id));
    runs.push(await store.readAttempts(id), await store.readRoutes(id), await store.readLease(id));
    runs.push(await store.readCheckpoints(id));
    for (const hash of ["p1", "p2"]) runs.push(Array.from((await store.readPatch(id, hash)) ?? [-1]));
  }
  const ids = [1, 2, 3, 4, 5, 6, 7];
  const answers = await Promise.all(ids.map((id) => store.readAnswer(id)));
  const definitions = await Promise.all(["h1", "h2", "h3"].map((hash) => store.readDefinition(hash)));
  const written = await Promise.all(["h1", "h2", "h3"].map((hash) => store.readWritten(hash)));
  const [inbox, list] = [await store.readInbox(ids), await store.listRuns({})];
  const [workflows, handlers] = [await store.listWorkflows({}), await store.listFailureHandlers()];
  const [drafts, tokens] = [await store.listDrafts(), await store.listTokens()];
  return { runs, answers, definitions, written, inbox, list, workflows, handlers, drafts, tokens };
}

/** So that most commits of a sequence have a lease to write under. */
async function takeAllRuns(store: Store): Promise<void> {
  for (let id = 1; id <= LAST_RUN; id += 1) await mustAcquire(store, id);
}

test(
  "any sequence of calls gives the same answers and leaves the same data on memory, SQLite and PostgreSQL",
  async () => {
    let [committed, refused, deleted] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { maxLength: CALLS_PER_SEQUENCE, size: "max" }), async (calls) => {
        const memory = createMemoryStore();
        const databases = [await openInFreshFolder(), await openInFreshSchema()];
        try {
          for (const store of [memory, ...databases.map((each) => each.store)]) await takeAllRuns(store);
          for (const { words, make } of calls) {
            const expected = await observe(() => make(memory));
            if ("value" in expected && expected.value === "committed") committed += 1;
            if ("code" in expected) refused += 1;
            else if (expected.value === true && words.startsWith("end, releaseLease")) deleted += 1;
            for (const { store } of databases)
              expect(await observe(() => make(store)), words).toEqual(expected);
          }
          const expected = await everything(memory);
          for (const { store, reopen } of databases) {
            expect(await everything(store)).toEqual(expected);
            expect(await everything(await reopen())).toEqual(expected);
          }
        } finally {
          for (const database of databases) await database.dispose();
        }
      }),
      { numRuns: SEQUENCES, endOnFailure: true },
    );
    // Else the sequences would say little.
    expect(committed).toBeGreaterThan(SEQUENCES);
    expect(refused).toBeGreaterThan(SEQUENCES);
    expect(deleted).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
