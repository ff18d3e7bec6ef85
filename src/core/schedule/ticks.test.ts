import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronProblem, isTimeZone, lastTicks, nextTick } from "./ticks.js";

const at = (text: string): number => Date.parse(text);

/** All ticks after one time and up to another, walked forward. */
function walked(cron: string, timezone: string, after: string, upTo: string): string[] {
  const found: string[] = [];
  for (let tick = nextTick({ cron, timezone }, at(after)); tick !== null && tick <= at(upTo); ) {
    found.push(new Date(tick).toISOString());
    tick = nextTick({ cron, timezone }, tick);
  }
  return found;
}

const times = (...texts: string[]): string[] => texts.map((text) => new Date(text).toISOString());

describe("which ticks are due between two times", () => {
  test("five fields count minutes, six count seconds", { tags: ["K2"] }, () => {
    expect(walked("*/20 * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")).toEqual(
      times("2026-01-01T00:20:00Z", "2026-01-01T00:40:00Z", "2026-01-01T01:00:00Z"),
    );
    expect(walked("*/20 * * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:00:40Z")).toEqual(
      times("2026-01-01T00:00:20Z", "2026-01-01T00:00:40Z"),
    );
  });

  test("a day of the month and a day of the week: either will do, as in every cron", { tags: ["K2"] }, () => {
    expect(walked("0 0 13 * 5", "UTC", "2026-02-01T00:00:00Z", "2026-02-28T00:00:00Z")).toEqual(
      times("2026-02-06T00:00Z", "2026-02-13T00:00Z", "2026-02-20T00:00Z", "2026-02-27T00:00Z"),
    );
  });

  // Berlin goes from 02:00 to 03:00 on 2026-03-29 and from 03:00 back to 02:00 on 2026-10-25, both at 01:00 UTC.
  test("Berlin, forward: a time that does not exist fires at the next that does", { tags: ["K2"] }, () => {
    expect(walked("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00Z", "2026-03-30T12:00Z")).toEqual(
      times("2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"),
    );
    expect(walked("*/20 * * * *", "Europe/Berlin", "2026-03-29T00:30Z", "2026-03-29T01:20Z")).toEqual(
      times("2026-03-29T00:40Z", "2026-03-29T01:00Z", "2026-03-29T01:20Z"),
    );
  });

  test("Berlin, back: a time that comes twice fires once, at its first coming", { tags: ["K2"] }, () => {
    expect(walked("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-26T12:00Z")).toEqual(
      times("2026-10-25T00:30Z", "2026-10-26T01:30Z"),
    );
    expect(walked("*/20 * * * *", "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-25T02:20Z")).toEqual(
      times("2026-10-25T00:40Z", "2026-10-25T02:00Z", "2026-10-25T02:20Z"),
    );
  });

  test("New York, both ways", { tags: ["K2"] }, () => {
    expect(walked("15 2 * * *", "America/New_York", "2026-03-07T12:00Z", "2026-03-09T12:00Z")).toEqual(
      times("2026-03-08T07:00Z", "2026-03-09T06:15Z"),
    );
    expect(walked("15 1 * * *", "America/New_York", "2026-10-31T12:00Z", "2026-11-02T12:00Z")).toEqual(
      times("2026-11-01T05:15Z", "2026-11-02T06:15Z"),
    );
  });

  test("Lord Howe, whose clocks move by half an hour", { tags: ["K2"] }, () => {
    // 2026-10-04 02:00 (+10:30) becomes 02:30 (+11); 2026-04-05 02:00 (+11) becomes 01:30 (+10:30).
    expect(walked("10 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", "2026-10-04T23:00Z")).toEqual(
      times("2026-10-03T15:30Z", "2026-10-04T15:10Z"),
    );
    expect(walked("40 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00Z", "2026-04-05T23:00Z")).toEqual(
      times("2026-04-04T14:40Z", "2026-04-05T15:10Z"),
    );
  });

  test("a whole day that does not exist: Samoa, 2011-12-30", { tags: ["K2"] }, () => {
    expect(walked("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00Z", "2012-01-01T00:00Z")).toEqual(
      times("2011-12-29T22:00Z", "2011-12-30T10:00Z", "2011-12-30T22:00Z", "2011-12-31T22:00Z"),
    );
  });

  test("walked forward and looked back at, from anywhere to anywhere, the ticks are the same", {
    tags: ["K2"],
  }, () => {
    const zone = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kolkata",
    );
    const cron = fc.constantFrom(
      "*/10 * * * *",
      "30 2 * * *",
      "0 */3 * * *",
      "45 1 * * 0",
      "15,50 0-4 * * *",
      "0 0 1 * *",
    );
    // Around the days on which clocks are set, in half of the cases.
    const day = fc.oneof(
      fc
        .constantFrom("2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04")
        .map((text) => at(text) - 86_400_000),
      fc.integer({ min: at("2025-01-01"), max: at("2028-01-01") }),
    );
    fc.assert(
      fc.property(
        zone,
        cron,
        day,
        fc.integer({ min: 0, max: 3 * 86_400_000 }),
        fc.integer({ min: 0, max: 3 * 86_400_000 }),
        (timezone, pattern, start, skip, length) => {
          const after = start + skip;
          const upTo = after + length;
          const schedule = { cron: pattern, timezone };
          const forward: number[] = [];
          for (
            let tick = nextTick(schedule, after);
            tick !== null && tick <= upTo;
            tick = nextTick(schedule, tick)
          )
            forward.push(tick);
          expect(lastTicks(schedule, { after, upTo, limit: 10_000 })).toEqual(forward);
          expect(lastTicks(schedule, { after, upTo, limit: 3 })).toEqual(forward.slice(-3));
          // Wherever the time is cut, nothing is lost and nothing comes twice.
          const middle = after + Math.floor(length / 2);
          const halves = [
            ...lastTicks(schedule, { after, upTo: middle, limit: 10_000 }),
            ...lastTicks(schedule, { after: middle, upTo, limit: 10_000 }),
          ];
          expect(halves).toEqual(forward);
          expect(new Set(forward).size).toBe(forward.length);
        },
      ),
      { numRuns: Number(process.env.PROPERTY_RUNS ?? 100) },
    );
  });
});

test("a cron is refused with the reason", { tags: ["K2"] }, () => {
  expect(cronProblem("0 3 * * *")).toBeNull();
  expect(cronProblem("*/5 0 3 * * MON-FRI")).toBeNull();
  expect(cronProblem("0 0 29 2 *")).toBeNull();
  expect(cronProblem("0 3 * *")).toBe("it has 4 fields, not five or six");
  expect(cronProblem("@daily")).toBe("it has 1 field, not five or six");
  expect(cronProblem("* * * * * * 2027")).toBe("it has 7 fields, not five or six");
  expect(cronProblem("61 * * * *")).toBe("Invalid value for minute: 61");
  expect(cronProblem("0 0 30 2 *")).toBe("it never fires");
});

test("a time zone is one that this machine knows", { tags: ["K2"] }, () => {
  expect(["UTC", "Europe/Berlin", "Australia/Lord_Howe"].map(isTimeZone)).toEqual([true, true, true]);
  expect(["Europe/Berln", "", "local"].map(isTimeZone)).toEqual([false, false, false]);
});
