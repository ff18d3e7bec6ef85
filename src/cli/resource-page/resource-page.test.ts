import { describe, expect, it } from "vitest";
import type { OutputOf } from "../../operations/client.js";
import { html } from "./markup.js";
import { resourcePage } from "./resource-page.js";

type Resources = OutputOf<"get_resources">;

const HOSTILE = `</title><script>alert(1)</script>"'&<img src=x onerror=alert(2)>\u001b[31m\u202e`;
const SPREAD = { p50: 1, p95: 2, max: 3 };

function found(more: Partial<Resources> = {}): Resources {
  return {
    ...{ run_id: 3, workflow: HOSTILE, status: "completed", jobs: 2, attempts: 2, measured: 2 },
    total: { running_ms: 1, cpu_ms: 1, read_bytes: 1, written_bytes: 1 },
    groups: [
      {
        ...{ name: HOSTILE, jobs: 2, attempts: 2, suggestion: HOSTILE },
        asked: { cpus: 1, memory_bytes: 2, runtime_ms: null },
        used: {
          ...{ cpus: SPREAD, memory_bytes: SPREAD, runtime_ms: null },
          ...{ cpu_ms: 1, read_bytes: 1, written_bytes: 1 },
        },
        findings: [{ kind: "near_limit", resource: "memory", asked: 2, used: 3, job: HOSTILE }],
      },
    ],
    groups_left_out: 0,
    timeline: { from: 0, interval_ms: 10, running: [1, 2], cpus: [0, 0.5], memory_bytes: [0, 4096] },
    series: [
      {
        ...{ job_id: 1, name: HOSTILE, attempt: 1, memory_limit_bytes: 4096 },
        samples: [
          { ms: 100, processes: 1, memory_bytes: 1, cpu_ms: 5, read_bytes: 0, written_bytes: 0 },
          { ms: 200, processes: 1, memory_bytes: 9_000, cpu_ms: 9, read_bytes: 0, written_bytes: 0 },
        ],
      },
    ],
    ...more,
  };
}

describe("the page of a run's resources", () => {
  it("shows hostile names as they are, and obeys none of them", () => {
    const page = resourcePage(found());
    expect(["\u001b", "\u202e"].filter((character) => page.includes(character))).toEqual([]);
    expect(page.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;/g)!.length).toBeGreaterThan(5);
    expect(page.match(/<[a-z][a-z0-9]*/g)!.filter((tag) => !KNOWN_TAGS.has(tag))).toEqual([]);
  });

  it("needs nothing from elsewhere and runs no script", () => {
    const page = resourcePage(found());
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/https?:|url\(|@import|\b(?:src|href|on[a-z]+)="/);
    expect(page).toContain("prefers-color-scheme: dark");
  });

  it("is well formed for runs of which nothing is known", () => {
    const nothing = { groups: [], timeline: null, series: [], jobs: 0, attempts: 0, measured: 0 };
    const page = resourcePage(found({ ...nothing, status: "running" }));
    expect(page).toContain("No attempt has ended yet.");
    expect(page).not.toMatch(/NaN|Infinity|undefined|null/);
    expect(resourcePage(found(nothing))).toContain(
      "No attempt ran: jobs that were taken over count in the run that ran them.",
    );
  });

  it("has no numbers that are none, whatever was measured", () => {
    const zero = { p50: 0, p95: 0, max: 0 };
    const [group] = found().groups;
    const groups = [
      {
        ...group!,
        asked: { cpus: null, memory_bytes: 0, runtime_ms: 0 },
        used: { ...group!.used, cpus: zero, memory_bytes: zero, runtime_ms: zero },
      },
    ];
    const timeline = { from: 0, interval_ms: 1, running: [0], cpus: [0], memory_bytes: [0] };
    expect(resourcePage(found({ groups, timeline }))).not.toMatch(/NaN|Infinity|undefined/);
  });
});

const KNOWN_TAGS = new Set(
  "html head meta title style body main header svg path circle div h1 p section b span h2 h3 article code table thead tr th tbody td small rect line text footer"
    .split(" ")
    .map((tag) => `<${tag}`),
);

describe("markup", () => {
  it("escapes all that is put in, but for markup", () => {
    expect(html`<p title="${`"'`}">${["<", html`<b>${"&"}</b>`]}${null}${7}</p>`.text).toBe(
      '<p title="&quot;&#39;">&lt;<b>&amp;</b>7</p>',
    );
  });
});
