import type { BookRow } from "../../core/book/book-row.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { FailureHandlerRow, JobRow, RunRow } from "../../core/model/rows.js";
import type { Notice } from "../../core/notify/notice.js";
import { type RunPosition, refuseTakenCause } from "../append-rules.js";
import type { StoredCampaign } from "../campaign-rows.js";
import type { ServerRow } from "../cluster-rows.js";
import { EVENT_JOB_PATTERN } from "../event-job.js";
import type { SharedRow } from "../shared-rows.js";
import { toStorableText } from "../storable-text.js";
import type {
  Append,
  DraftRow,
  Lease,
  LeaseOwner,
  NewInboxCommand,
  SerialisedEvent,
  StoredSnapshot,
  TokenRow,
  WaitingRun,
  WorkflowRow,
} from "../store.js";

const EVENT_JOB = new RegExp(EVENT_JOB_PATTERN);

/** Rows are kept as JSON text, so no caller can reach into the store, and values come back as a database gives them. */
export class RunTables {
  run = "";
  readonly events: SerialisedEvent[] = [];
  readonly jobs = new Map<number, string>();
  readonly attempts = new Map<string, string>();
  readonly routes: string[] = [];
  readonly checkpoints = new Map<number, string>();
  readonly patches = new Map<string, Uint8Array>();
  snapshot: StoredSnapshot | null = null;
  private readonly seqsByJob = new Map<number, number[]>();
  private indexed = 0;

  seqsAfter(seq: number): readonly number[] {
    return Array.from({ length: Math.max(0, this.events.length - seq) }, (_, i) => seq + i + 1);
  }

  /** The events that are about this job alone. The index is brought up to date when somebody asks. */
  seqsOf(job: number): readonly number[] {
    for (; this.indexed < this.events.length; this.indexed += 1) {
      const about = EVENT_JOB.exec(this.events[this.indexed]!.data)?.[1];
      if (about === undefined) continue;
      const seqs = this.seqsByJob.get(Number(about));
      if (seqs === undefined) this.seqsByJob.set(Number(about), [this.indexed + 1]);
      else seqs.push(this.indexed + 1);
    }
    return this.seqsByJob.get(job) ?? [];
  }
}

/** It stays when the lease is given back (`owner` null): the next token must be higher. */
interface LeaseState {
  readonly fence: number;
  readonly owner: LeaseOwner | null;
  readonly expiresAt: number;
}

type InboxEntry = NewInboxCommand & { readonly id: number; answer: string | null };

interface KeptNotice {
  readonly text: string;
  readonly lease: string | null;
  readonly leasedUntil: number;
}

/** The data of a memory store, shared by all handles on it. */
export class MemoryTables {
  lastRunId = 0;
  lastCommandId = 0;
  readonly workflows: WorkflowRow[] = [];
  readonly failureHandlers: FailureHandlerRow[] = [];
  readonly definitions = new Map<string, string>();
  readonly written = new Map<string, string>();
  readonly drafts = new Map<string, DraftRow>();
  readonly runs = new Map<number, RunTables>();
  readonly leases = new Map<number, LeaseState>();
  readonly waiting = new Map<number, WaitingRun & { readonly owner: LeaseOwner }>();
  /** By run, also of those that are over: no place has the number of another of its group. */
  readonly places = new Map<number, { readonly group: string; readonly place: number }>();
  readonly inbox = new Map<number, InboxEntry>();
  readonly clusters = new Map<string, string>();
  readonly allocations = new Map<string, string>();
  readonly shared = new Map<string, SharedRow>();
  readonly outbox = new Map<string, KeptNotice>();
  readonly servers = new Map<string, ServerRow>();
  readonly book = new Map<string, string>();
  readonly bookRows = new Map<string, { readonly text: string; readonly rolled: boolean }>();
  readonly bookBacklog = new Set<number>();
  readonly campaigns = new Map<number, StoredCampaign>();
  /** Never given twice, also where the token is gone. */
  lastTokenId = 0;
  readonly tokens: (TokenRow & { readonly hash: string })[] = [];

  positionOf(runId: number): RunPosition {
    return { fence: this.leaseOf(runId)?.fence ?? null, lastSeq: this.runs.get(runId)?.events.length ?? 0 };
  }

  /** Null: nobody holds it. */
  leaseOf(runId: number): Lease | null {
    const { fence, owner, expiresAt } = this.leases.get(runId) ?? { fence: 0, owner: null, expiresAt: 0 };
    return owner === null ? null : { fence, owner, expiresAt };
  }

  /** As a unique index does it in a database. */
  refuseTakenCauses(appends: readonly Append[]): void {
    const holders = new Map<string, number>();
    for (const [runId, { run }] of this.runs) {
      const { cause } = parseRow<RunRow>(run);
      if (cause !== null) holders.set(cause, runId);
    }
    for (const { runId, run } of appends) {
      if (run === null || run.cause === null) continue;
      refuseTakenCause(runId, run.cause, holders.get(run.cause) ?? runId);
      holders.set(run.cause, runId);
    }
  }

  /** As a foreign key does it in a database. */
  refuseUnknownHandlers(jobs: readonly JobRow[]): void {
    for (const { id, failure_handler_id } of jobs) {
      if (failure_handler_id === null || this.failureHandlers[failure_handler_id - 1] !== undefined) continue;
      throw new DarumaError("STORE_FAILED", `job ${id}: there is no failure handler ${failure_handler_id}`);
    }
  }

  apply(append: Append): void {
    let tables = this.runs.get(append.runId);
    if (tables === undefined) {
      tables = new RunTables();
      this.runs.set(append.runId, tables);
    }
    if (append.run !== null) tables.run = JSON.stringify(append.run);
    for (const { at, type, data } of append.events) tables.events.push({ at, type, data });
    for (const job of append.jobs) tables.jobs.set(job.id, JSON.stringify(job));
    for (const attempt of append.attempts) {
      tables.attempts.set(`${attempt.job_id}/${attempt.attempt}`, JSON.stringify(attempt));
    }
    for (const checkpoint of append.checkpoints ?? [])
      tables.checkpoints.set(checkpoint.ordinal, JSON.stringify(checkpoint));
    for (const route of append.routes) {
      tables.routes.push(JSON.stringify({ ...route, reason: toStorableText(route.reason) }));
    }
    this.putBookRows(append.book ?? []);
    this.putNotices(append.outbox ?? []);
  }

  putNotices(notices: readonly Notice[]): void {
    for (const notice of notices)
      if (!this.outbox.has(notice.id))
        this.outbox.set(notice.id, { text: JSON.stringify(notice), lease: null, leasedUntil: 0 });
  }

  putBookRows(rows: readonly BookRow[]): void {
    for (const row of rows) {
      const place = `${row.run_id}/${row.n}`;
      const texts = { code: toStorableText(row.code), sample: toStorableText(row.sample) };
      if (!this.bookRows.has(place))
        this.bookRows.set(place, { text: JSON.stringify({ ...row, ...texts }), rolled: false });
    }
  }
}

/** The data, as long as the handle is open. */
export type OpenTables = () => MemoryTables;

export function parseRow<Row>(text: string): Row {
  return JSON.parse(text) as Row;
}
