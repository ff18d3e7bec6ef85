import { DELIVERY_MS, delayAfter } from "../../../core/notices/episode.js";
import type { Notice } from "../../../core/notices/notice.js";
import { messageOf } from "../../../core/text/message-of.js";
import { oneLine } from "../../../core/text/plain-text.js";
import { type NoticeChange, OPEN_STATES } from "../../../store/outbox-rows.js";
import type { LeaseOwner } from "../../../store/store.js";
import { Loop } from "../loop.js";
import { followUp, pruneNotices } from "./follow-ups.js";
import { judgeNotices } from "./judge-notices.js";
import type { NoticePorts } from "./notice-ports.js";

/** How often to check for notices of others, and for follow-ups. */
const POLL_MS = 2_000;
const FOLLOW_UP_MS = 10_000;
const PRUNE_MS = 60 * 60_000;
const JUDGED_AT_ONCE = 200;
/** Limit for one channel. Together with a channel's longest time limit, sending stays well below the lease. */
const SENT_AT_ONCE = 4;
const LEASE_MS = 3 * 60_000;
const MAX_ERROR_CHARS = 500;

/** Sends the outbox to the channels that this process has. A hanging channel does not delay the others. */
export class Notifier {
  private readonly lines: readonly Line[];
  private readonly stopping = new AbortController();
  private readonly following: Loop;
  private prunedAt: number | null = null;

  constructor(private readonly ports: NoticePorts) {
    this.lines = ports.channels.map((channel) => new Line(channel, ports, this.stopping.signal));
    this.following = new Loop(ports.clock, { turn: () => this.lookAhead(), restMs: () => FOLLOW_UP_MS });
  }

  start(): void {
    this.wake();
    this.following.wake();
  }

  /** Checks for new notices. */
  wake(): void {
    for (const { loop } of this.lines) loop.wake();
  }

  /** Waits until no notices of its own runs are left to send, but at most this long. */
  async finish(maxMs: number): Promise<void> {
    const { clock, ownRuns, store, channels } = this.ports;
    const until = clock.elapsed() + maxMs;
    await followUp(this.ports).catch(() => {});
    const runIds = ownRuns?.().runIds ?? [];
    while (clock.elapsed() < until) {
      this.wake();
      await this.within(Promise.all(this.lines.map(({ loop }) => loop.idle())), until - clock.elapsed());
      const open = await store
        .listNotices({ runIds, channels, states: OPEN_STATES, limit: 1 })
        .catch(() => []);
      if (open.length === 0) return;
      await this.within(new Promise(() => {}), Math.min(POLL_MS / 4, until - clock.elapsed()));
    }
  }

  /** Waits without leaving a timer behind, because the process ends afterwards. */
  private within(work: Promise<unknown>, maxMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.ports.clock.after(Math.max(0, maxMs), resolve);
      void work.finally(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Returns notices in progress; the next process sends them again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([this.following.stop(), ...this.lines.map(({ loop }) => loop.stop())]);
  }

  private async lookAhead(): Promise<void> {
    const { clock, ownRuns } = this.ports;
    if (ownRuns !== null) return;
    if (this.prunedAt === null || clock.elapsed() >= this.prunedAt + PRUNE_MS) {
      this.prunedAt = clock.elapsed();
      await pruneNotices(this.ports);
    }
    await followUp(this.ports);
    this.wake();
  }
}

/** One channel. It claims, judges and sends, one batch after the other. */
class Line {
  readonly loop: Loop;
  private claims = 0;
  /** Set while the channel fails, so that people are informed once and not for each message. */
  private isDown = false;

  constructor(
    private readonly channel: string,
    private readonly ports: NoticePorts,
    private readonly signal: AbortSignal,
  ) {
    this.loop = new Loop(ports.clock, { turn: () => this.work(), restMs: () => POLL_MS });
  }

  private async work(): Promise<void> {
    for (let isMore = true; isMore && !this.signal.aborted; ) {
      const judged = await this.claim("new", JUDGED_AT_ONCE);
      if (judged.notices.length > 0) await judgeNotices(this.ports, judged.notices, judged.lease);
      const due = await this.claim("due", SENT_AT_ONCE);
      await Promise.all(due.notices.map((notice) => this.send(notice, due.lease)));
      isMore = judged.notices.length + due.notices.length > 0;
    }
  }

  private async claim(
    state: "new" | "due",
    limit: number,
  ): Promise<{ readonly lease: string; readonly notices: readonly Notice[] }> {
    const { store, clock, owner, isDead, ownRuns } = this.ports;
    const held = await store.listNoticeLeases();
    this.claims += 1;
    const lease = JSON.stringify({ owner, channel: this.channel, n: this.claims });
    const notices = await store.claimNotices({
      ...{ lease, now: clock.now(), leaseMs: LEASE_MS, limit, state, channels: [this.channel] },
      deadLeases: held.filter((each) => isDead(ownerOf(each))),
      ...(ownRuns === null ? {} : { runIds: ownRuns().runIds }),
    });
    return { lease, notices };
  }

  private async send(notice: Notice, lease: string): Promise<void> {
    const { store, clock, deliver } = this.ports;
    const failure = await deliver(notice, this.signal).catch(messageOf);
    const now = clock.now();
    const change = this.changeOf(notice, failure, now);
    this.report(failure, change);
    await store.writeShared([], { now, settled: [{ ...change, lease }] });
  }

  private changeOf(
    { id, at, told, tries }: Notice,
    failure: string | null,
    now: number,
  ): Omit<NoticeChange, "lease"> {
    const settled = { id, told, tries: tries + 1, error: null, settled_at: now, delayMs: 0 };
    if (failure === null) return { ...settled, state: "delivered" };
    // It was interrupted because the process stops, so it does not count as a failure.
    if (this.signal.aborted) return { ...settled, state: "due", tries, settled_at: null };
    const error = oneLine(failure, MAX_ERROR_CHARS);
    if (now >= at + DELIVERY_MS) return { ...settled, state: "undelivered", error };
    return { ...settled, state: "due", error, settled_at: null, delayMs: delayAfter(tries + 1) };
  }

  private report(failure: string | null, { state, error }: Omit<NoticeChange, "lease">): void {
    if (this.signal.aborted) return;
    const wasDown = this.isDown;
    this.isDown = failure !== null;
    if (state === "undelivered")
      this.ports.tell?.(`channel ${this.channel}: a message is given up after 24 hours: ${error}`);
    else if (this.isDown && !wasDown)
      this.ports.tell?.(`channel ${this.channel}: a message cannot be sent and is tried again: ${error}`);
    else if (wasDown && !this.isDown) this.ports.tell?.(`channel ${this.channel}: messages arrive again`);
  }
}

function ownerOf(lease: string): LeaseOwner {
  return (JSON.parse(lease) as { readonly owner: LeaseOwner }).owner;
}
