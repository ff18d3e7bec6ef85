import { expect, it } from "vitest";
import type { Notice } from "../../src/core/notices/notice.js";
import { judgeNotices } from "../../src/run/engine/notices/judge-notices.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { OWNER } from "../contract/store-fixtures.js";
import { ManualClock } from "../support/manual-clock.js";

const AT = 1_700_000_000_000;

function notice(n: number): Notice {
  return {
    ...{ id: `msg_${n}`, at: AT + n, kind: "failed", channel: "ops", thing: `thing ${n}`, run_id: n },
    ...{ workflow: "w", step: null, signature: null, condition: "slow", facts: { recovery: null } },
    ...{ state: "new", told: null, tries: 0, error: null, next_at: 0, settled_at: null },
  };
}

it("expressions that take long do not use up the lease: what was judged by then is on record, the others come again", {
  tags: ["N6"],
}, async () => {
  const store = createMemoryStore();
  const clock = new ManualClock(AT + 100);
  await store.writeShared([], { now: AT, notices: [1, 2, 3, 4, 5].map(notice) });
  const lease = "mine";
  const claim = { lease, now: clock.now(), leaseMs: 180_000, limit: 10, channels: ["ops"] };
  const claimed = await store.claimNotices({ ...claim, state: "new" });
  expect(claimed).toHaveLength(5);
  const ports = {
    ...{ store, clock, owner: OWNER, isDead: () => false, channels: ["ops"], ownRuns: null },
    deliver: async () => null,
    evaluate: async () => {
      clock.advance(40_000);
      return { ok: true as const, value: true, duration_ms: 40_000 };
    },
  };
  await judgeNotices(ports, claimed, lease);
  const states = (await store.listNotices({ limit: 10 })).map(({ id, state }) => `${id} ${state}`).sort();
  expect(states).toEqual(["msg_1 due", "msg_2 due", "msg_3 new", "msg_4 new", "msg_5 new"]);
});
