import { describe, expect, it } from "vitest";
import type { NoticeKind } from "../model/definition.js";
import { delayAfter, type Episode, isForgotten, isReminderDue, takeNotice } from "./episode.js";
import type { Notice, NoticeFacts } from "./notice.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const T0 = Date.UTC(2026, 0, 5);

/** One channel that hears of one thing; the clock is moved by hand. */
class Hearing {
  now = T0;
  episode: Episode | null = null;
  private n = 0;

  /** Whether it is told, and as what. */
  hear(kind: NoticeKind, facts: Partial<NoticeFacts> = {}, isMuted = false): string {
    this.n += 1;
    const notice: Notice = {
      ...{ id: `msg_${this.n}`, at: this.now, kind, channel: "ops", thing: "t", run_id: 1, workflow: "w" },
      ...{ step: "s", signature: "v1:aa", condition: null, state: "new", told: null, tries: 0, error: null },
      ...{ next_at: 0, settled_at: null },
      facts: { recovery: { when: null }, job_id: this.n, attempt: 1, ...facts },
    };
    const verdict = takeNotice(this.episode, notice, { now: this.now, isMuted });
    this.episode = verdict.episode;
    return verdict.told === null ? "-" : `${verdict.told.as} ${verdict.told.count}`;
  }

  hearMany(times: number, kind: NoticeKind = "held"): string[] {
    return Array.from({ length: times }, () => this.hear(kind));
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }
}

describe("an episode", () => {
  it("is told at the 1st, 10th, 100th and 1000th time, and at no other", { tags: ["N3"] }, () => {
    const told = new Hearing().hearMany(1_000);
    const at = told.flatMap((each, index) => (each === "-" ? [] : [`${index + 1}: ${each}`]));
    expect(at).toEqual(["1: first 1", "10: again 10", "100: again 100", "1000: again 1000"]);
  });

  it("is none where runs complete: each is told, and nothing is remembered", { tags: ["N3"] }, () => {
    const hearing = new Hearing();
    expect(hearing.hearMany(3, "completed")).toEqual(["first 1", "first 1", "first 1"]);
    expect(hearing.episode).toBeNull();
  });

  it("counts an attempt of a job once, whatever is heard of it", { tags: ["N3"] }, () => {
    const hearing = new Hearing();
    const same = { job_id: 7, attempt: 2 };
    expect([
      hearing.hear("dead_letter", same),
      hearing.hear("held", same),
      hearing.hear("failed", same),
      hearing.hear("held", { job_id: 7, attempt: 3 }),
    ]).toEqual(["first 1", "-", "-", "-"]);
    expect(hearing.episode?.count).toBe(2);
  });

  it("reminds once a day as long as it is asked for, and not twice for the same day", {
    tags: ["N3"],
  }, () => {
    const hearing = new Hearing();
    hearing.hear("held");
    expect(isReminderDue(hearing.episode!, hearing.after(DAY - 1).now)).toBe(false);
    expect(isReminderDue(hearing.episode!, hearing.after(1).now)).toBe(true);
    const { told_at } = hearing.episode!;
    // Two servers have seen that it is due.
    expect([
      hearing.hear("held", { told_at: told_at! }),
      hearing.hear("held", { told_at: told_at! }),
    ]).toEqual(["reminder 1", "-"]);
    expect(isReminderDue(hearing.episode!, hearing.after(DAY - 1).now)).toBe(false);
    expect(isReminderDue(hearing.episode!, hearing.after(1).now)).toBe(true);
  });

  it("ends with the recovery, after which the next failure is the first of a new one", {
    tags: ["N3"],
  }, () => {
    const hearing = new Hearing();
    expect(hearing.hearMany(3)).toEqual(["first 1", "-", "-"]);
    const begunBefore = { begun_at: hearing.now };
    expect(hearing.after(5).hear("recovered", begunBefore)).toBe("-");
    expect(hearing.hear("recovered", { begun_at: hearing.now })).toBe("recovered 3");
    expect(hearing.hear("recovered", { begun_at: hearing.now })).toBe("-");
    expect(hearing.after(5).hear("held")).toBe("first 1");
  });

  it("ends without a word where nobody wants to hear of recoveries, or was told of the failure", {
    tags: ["N3"],
  }, () => {
    const unwanted = new Hearing();
    unwanted.hear("held");
    expect(unwanted.after(5).hear("recovered", { begun_at: unwanted.now, recovery: null })).toBe("-");
    expect(unwanted.hear("held")).toBe("first 1");
    const muted = new Hearing();
    expect(muted.hear("held", {}, true)).toBe("-");
    expect(muted.after(5).hear("recovered", { begun_at: muted.now })).toBe("-");
  });

  it("counts what is muted, and tells it once it is not muted any more", { tags: ["N3"] }, () => {
    const hearing = new Hearing();
    expect([hearing.hear("held", {}, true), hearing.hear("held", {}, true), hearing.hear("held")]).toEqual([
      ...["-", "-", "first 3"],
    ]);
    expect(hearing.hear("held")).toBe("-");
  });

  it("is forgotten after seven quiet days, and a reminder is not quiet", { tags: ["N3"] }, () => {
    const hearing = new Hearing();
    hearing.hear("held");
    expect(isForgotten(hearing.episode!, hearing.after(7 * DAY - 1).now)).toBe(false);
    hearing.hear("held", { told_at: hearing.episode!.told_at! });
    expect(isForgotten(hearing.episode!, hearing.after(7 * DAY - 1).now)).toBe(false);
    expect(hearing.hear("held")).toBe("-");
    expect(isForgotten(hearing.episode!, hearing.after(7 * DAY).now)).toBe(true);
    expect(hearing.hear("held")).toBe("first 1");
  });
});

it("waits longer after each try, and at most an hour", () => {
  expect([1, 2, 3, 9, 10, 40].map((tries) => delayAfter(tries) / 1_000)).toEqual([
    10, 20, 40, 2560, 3600, 3600,
  ]);
});
