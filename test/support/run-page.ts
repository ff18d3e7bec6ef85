export const SLOW = `name: slow
steps:
  a: { type: command, exec: "sleep 300" }
  b: { type: noop, depends_on: [a] }
`;
/** Held until it expires; when it ends, what undoes its first step takes long. */
export const ENDING = `name: ending
unhandled: hold
hold: { expires: 2h, then: skip }
steps:
  take: { exec: "true", undo: give-back }
  fail: { exec: "exit 3", depends_on: [take] }
  give-back: { exec: "sleep 300" }
`;
/** The second waits for the first. */
export const QUEUED = `name: queued
concurrency: { group: deploy, limit: 1, policy: queue }
steps: { ship: { exec: "sleep 300" } }
`;
export const MENDED = `name: mended
steps:
  deps:
    exec: "[ $DARUMA_ATTEMPT_ID -ge 3 ] || { echo 'mirror is busy' >&2; exit 75; }"
    on_fail: { retry: { max: 3, backoff: { delay_ms: 1 } } }
  build:
    exec: "[ $DARUMA_ATTEMPT_ID -ge 2 ] || exit 2"
    depends_on: [deps]
    on_fail: { run: [repair] }
  repair: { exec: "true" }
  canary: { exec: "exit 4", depends_on: [build] }
  undo: { exec: "true" }
  page: { exec: "true" }
transitions:
  - { from: canary, to: page, on: failure, when: 'error.code == "TIMEOUT"' }
  - { from: canary, to: undo, on: failure }
`;

/** Its second step has no items before the first has ended. */
export const SPREAD = `name: spread
steps:
  list: { type: noop, output: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], forEach: true }
  each: { type: noop, depends_on: [list] }
  after: { type: noop, depends_on: [each], fanout: reduce, join: all }
  alone: { type: noop }
`;

/** 2,000 steps in 50 rows, 3,920 edges. */
export function largeFile(): string {
  const lines = ["name: large", "steps:"];
  for (let step = 0; step < 2_000; step += 1) {
    const before = step - 40;
    const beside = before + (step % 40 === 39 ? -39 : 1);
    const needs = before < 0 ? "" : `, depends_on: [s${before}, s${beside}]`;
    lines.push(`  s${step}: { type: noop${needs} }`);
  }
  return lines.join("\n");
}

export const FAN_OUT = `name: fan
max_items: 50000
steps:
  list: { exec: "node -e 'console.log(JSON.stringify(Array.from({length:40000},(_,i)=>i)))'", forEach: true }
  each: { exec: "sleep 300", depends_on: [list] }
`;

/** In a page: the longest time between two frames, and how often something changed. */
export const WATCH_FRAMES = `(() => {
  const met = { longest: 0, changes: 0 };
  window.frames_met = met;
  let last = performance.now();
  const frame = () => {
    const now = performance.now();
    met.longest = Math.max(met.longest, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new MutationObserver((changes) => { met.changes += changes.length; })
    .observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
})()`;
