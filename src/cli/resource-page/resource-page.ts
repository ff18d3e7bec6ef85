import { aboutSize } from "../../core/text/amount-text.js";
import type { OutputOf } from "../../operations/client.js";
import { durationText } from "../../report/words/duration-text.js";
import { findingText, nothingUsed } from "../render/resource-lines.js";
import { areaChart, type Bar, usageBar } from "./charts.js";
import { html, type Markup } from "./markup.js";
import { STYLE } from "./style.js";

type Resources = OutputOf<"get_resources">;
type Group = Resources["groups"][number];
type Series = Resources["series"][number];
type Resource = "cpus" | "memory" | "runtime";

const DOLL = html`<svg viewBox="0 0 48 48" aria-hidden="true"><path fill="var(--main)" d="M24 3c11 0 18 9 18 21s-7 21-18 21S6 36 6 24 13 3 24 3z"/>
<path fill="var(--card)" d="M24 11c8 0 12 5 12 11s-5 9-12 9-12-3-12-9 4-11 12-11z"/><circle cx="19" cy="20" r="2.6" fill="var(--ink)"/><circle cx="29" cy="20" r="2.6" fill="var(--ink)"/>
<path d="M20 27q4 2.5 8 0" fill="none" stroke="var(--ink)" stroke-width="1.6" stroke-linecap="round"/></svg>`;

/** What a run asked for and used, as one file that needs nothing else. */
export function resourcePage(found: Resources): string {
  const title = `Resources of run ${found.run_id} of ${found.workflow}`;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>`;
  const body = html`</style></head><body><main>
<header>${DOLL}<div><h1>${title}</h1><p class="soft">${found.status}</p></div></header>
${numbersOf(found)}${findingsOf(found)}${timelineOf(found)}${tableOf(found)}${seriesOf(found)}
<footer>Memory is the largest process of an attempt, or all of its processes together if the step has a memory limit and that was more. Processors are the CPU time of an attempt divided by its time.
The marks in a bar are the median and the 95th percentile; its end is the most.</footer>
</main></body></html>
`;
  return `${page.text}${STYLE}${body.text}`;
}

function numbersOf({ jobs, attempts, measured, total }: Resources): Markup {
  const number = (value: string, what: string): Markup =>
    html`<div><b>${value}</b><span class="soft">${what}</span></div>`;
  return html`<section class="numbers">
${number(jobs.toLocaleString("en"), jobs === 1 ? "job" : "jobs")}
${number(attempts.toLocaleString("en"), measured === attempts ? "attempts" : `attempts, ${measured.toLocaleString("en")} measured`)}
${number(durationText(total.running_ms), "of attempts")}
${number(durationText(total.cpu_ms), "of CPU time")}
${number(aboutSize(total.read_bytes), "read from disks")}
${number(aboutSize(total.written_bytes), "written to disks")}
</section>`;
}

function findingsOf({ groups }: Resources): Markup {
  const found = groups.filter(({ findings }) => findings.length > 0);
  if (found.length === 0) return html``;
  return html`<h2>What to change</h2><div class="cards">${found.map((group) => {
    const isNear = group.findings.some(({ kind }) => kind === "near_limit");
    return html`<article class="card ${isNear ? "near" : "low"}"><h3>${group.name}</h3>
${group.findings.map((finding) => html`<p>${findingText(finding)}</p>`)}
${group.suggestion === null ? "" : html`<code>${group.suggestion}</code>`}</article>`;
  })}</div>`;
}

function timelineOf({ timeline }: Resources): Markup {
  if (timeline === null) return html``;
  const { interval_ms, running, cpus, memory_bytes } = timeline;
  const until = interval_ms * running.length;
  const chart = (
    label: string,
    values: readonly number[],
    yText: (y: number) => string,
    tone: "main" | "second",
  ) =>
    html`<div class="card"><h3>${label}</h3>${areaChart({
      ...{ label, until, limit: null, base: yText === aboutSize ? 1024 : 1000, yText, xText: durationText },
      lines: [{ tone, points: steps(values, interval_ms) }],
    })}</div>`;
  return html`<h2>Over time</h2><div class="cards">
${chart("Attempts at work", running, shortNumber, "second")}
${chart("Processors at work", cpus, shortNumber, "main")}
${chart("Memory: peaks of the attempts at work", memory_bytes, aboutSize, "second")}</div>`;
}

/** Each value holds for its whole interval. */
function steps(values: readonly number[], interval: number): (readonly [number, number])[] {
  return values.flatMap((value, at) => [
    [at * interval, value] as const,
    [(at + 1) * interval, value] as const,
  ]);
}

function tableOf(found: Resources): Markup {
  const { groups, groups_left_out } = found;
  if (groups.length === 0) return html`<p class="soft">${nothingUsed(found)}</p>`;
  const most = (pick: (group: Group) => number | undefined): number =>
    Math.max(1e-9, ...groups.map((group) => pick(group) ?? 0));
  const whole = {
    memory: most(({ used }) => used.memory_bytes?.max),
    cpus: most(({ used }) => used.cpus?.max),
    runtime: most(({ used }) => used.runtime_ms?.max),
  };
  const left =
    groups_left_out === 0
      ? ""
      : html`<p class="soft">${groups_left_out} more are left out; --limit shows them.</p>`;
  return html`<h2>Asked for and used</h2><div class="scroll"><table><thead><tr><th>step</th><th>jobs</th><th>memory</th><th>processors</th><th>runtime</th><th>CPU time</th><th>read</th><th>written</th></tr></thead><tbody>
${groups.map((group) => rowOf(group, whole))}</tbody></table></div>${left}`;
}

function rowOf(group: Group, whole: { readonly [resource in Resource]: number }): Markup {
  const { asked, used } = group;
  const cell = (
    resource: Resource,
    spread: Bar["spread"] | null,
    limit: number | null,
    text: Bar["text"],
  ): Markup => {
    if (spread === null) return html`<td class="soft">not measured</td>`;
    const bar = usageBar({
      ...{
        spread,
        text,
        whole: limit ?? whole[resource],
        isAsked: limit !== null,
        tone: toneOf(group, resource),
      },
    });
    return html`<td>${bar}<small>${text(spread.max)}${limit === null ? "" : ` of ${text(limit)}`}</small></td>`;
  };
  return html`<tr><th scope="row">${group.name}</th><td class="number">${group.jobs.toLocaleString("en")}</td>
${cell("memory", used.memory_bytes, asked.memory_bytes, aboutSize)}
${cell("cpus", used.cpus, asked.cpus, shortNumber)}
${cell("runtime", used.runtime_ms, asked.runtime_ms, durationText)}
<td class="number">${durationText(used.cpu_ms)}</td><td class="number">${aboutSize(used.read_bytes)}</td><td class="number">${aboutSize(used.written_bytes)}</td></tr>
`;
}

function toneOf({ findings }: Group, resource: Resource): Bar["tone"] {
  const kind = findings.find((finding) => finding.resource === resource)?.kind;
  if (kind === undefined) return "usual";
  return kind === "near_limit" ? "near" : "low";
}

function seriesOf({ series }: Resources): Markup {
  if (series.length === 0)
    return html`<p class="soft hint">To see each attempt over time, add resource_monitor: { granularity: time_series } to the workflow file.</p>`;
  return html`<h2>Attempt by attempt</h2><div class="cards">${series.map(seriesCard)}</div>`;
}

function seriesCard({ name, attempt, memory_limit_bytes, samples }: Series): Markup {
  const until = samples.at(-1)?.ms ?? 0;
  const label = `${name}, attempt ${attempt}`;
  const memory = areaChart({
    ...{
      label: `memory of ${label}`,
      until,
      limit: memory_limit_bytes,
      base: 1024,
      yText: aboutSize,
      xText: durationText,
    },
    lines: [{ tone: "second", points: samples.map(({ ms, memory_bytes }) => [ms, memory_bytes]) }],
  });
  const cpus = areaChart({
    ...{
      label: `processors of ${label}`,
      until,
      limit: null,
      base: 1000,
      yText: shortNumber,
      xText: durationText,
    },
    lines: [{ tone: "main", points: ratesOf(samples) }],
  });
  return html`<article class="card"><h3>${label}</h3><p class="soft">memory${memory_limit_bytes === null ? "" : `, asked for ${aboutSize(memory_limit_bytes)}`}</p>${memory}<p class="soft">processors at work</p>${cpus}</article>`;
}

/** CPU time between two samples. */
function ratesOf(samples: Series["samples"]): (readonly [number, number])[] {
  return samples.map(({ ms, cpu_ms }, at) => {
    const before = samples[at - 1] ?? { ms: 0, cpu_ms: 0 };
    return [ms, Math.max(0, cpu_ms - before.cpu_ms) / Math.max(1, ms - before.ms)];
  });
}

function shortNumber(value: number): string {
  return String(Number(value.toPrecision(value < 100 ? 2 : 6)));
}
