import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { sizeText } from "../../log/LogLine.js";
import { exactTime, namedTime } from "../../words/times.js";
import type { Attempt } from "./Attempts.js";

/** When and where an attempt ran, and what it used. */
export function AttemptFacts({ attempt }: { readonly attempt: Attempt }): ReactNode {
  const { ready_at, started_at, finished_at, worker, node, allocation, restart } = attempt;
  const { peak_memory_bytes: memory, cpu_ms: cpu } = attempt;
  const waited = ready_at === null ? null : Date.parse(started_at) - Date.parse(ready_at);
  const rows: readonly (readonly [string, ReactNode])[] = [
    [
      "ready",
      ready_at === null ? null : (
        <Time key="ready" at={ready_at} more={`waited ${durationText(waited ?? 0)}`} />
      ),
    ],
    ["started", <Time key="started" at={started_at} />],
    ["ended", finished_at === null ? "it is running" : <Time key="ended" at={finished_at} />],
    ["visit", attempt.visit],
    [
      "worker",
      [worker, node, allocation, restart === null ? null : `restart ${restart}`].filter(Boolean).join(", "),
    ],
    ["peak memory", memory === null ? null : sizeText(memory)],
    ["CPU", cpu === null ? null : durationText(cpu)],
    ["exit", attempt.error?.exit_code ?? attempt.error?.signal ?? null],
  ];
  return (
    <section>
      <h2>Attempt {attempt.attempt}</h2>
      <dl className="kv panel pad">
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

function Time({ at, more }: { readonly at: string; readonly more?: string }): ReactNode {
  return (
    <span title={exactTime(at)}>
      {namedTime(at)}
      {more !== undefined && <span className="dim">, {more}</span>}
    </span>
  );
}
