import { expect, it } from "vitest";
import { deliveryState, type NotificationItem, toldWords } from "./notifications.js";

const NOW = Date.parse("2026-11-18T00:00:00Z");
const item: NotificationItem = {
  ...{ id: "n1", at: "2026-11-17T23:59:00.000Z", kind: "held", channel: "ops", state: "delivered" },
  ...{ subject: "ci: test is held in run 12", workflow: "ci", run_id: 12, step: "test", signature: "d1d5" },
  ...{ told_as: "first", count: 1, tries: 1, error: null, next_try_at: null, settled_at: null },
};

it("a message says whether it has arrived, and if not, why and what happens next", () => {
  const more = (change: Partial<NotificationItem>) => deliveryState({ ...item, ...change }, NOW).more;
  expect(more({})).toBe("");
  expect(more({ tries: 3 })).toBe("It took 3 tries.");
  expect(more({ state: "due", tries: 2, error: "HTTP 503", next_try_at: "2026-11-18T00:05:00Z" })).toBe(
    "The last try failed: HTTP 503. Next try in 5 min.",
  );
  expect(
    more({ state: "undelivered", tries: 9, error: "HTTP 503", settled_at: "2026-11-18T00:00:00.000Z" }),
  ).toBe("Given up after 9 tries at 2026-11-18 00:00:00 UTC. The last try failed: HTTP 503.");
});

it("a message that comes again says how often its cause was seen", () => {
  expect(toldWords(item)).toBe("");
  expect(toldWords({ ...item, told_as: "again", count: 10 })).toBe("seen 10 times");
  expect(toldWords({ ...item, told_as: "reminder" })).toBe("reminder: it still waits");
});
