import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import type { paths } from "../../api/schema.js";
import { Doll } from "../../parts/Doll.js";
import { useMinute, useSecond } from "../../parts/use-minute.js";
import { addressOf } from "../../place.js";
import { count, type RunItem } from "../../words/status.js";
import { exactTime, since } from "../../words/times.js";
import { withMarks } from "../../words/unseen.js";
import { partsOf, standingInList } from "./standing.js";

type Answer = paths["/api/v1/runs"]["get"]["responses"][200]["content"]["application/json"];
export type Outcomes = NonNullable<Answer["outcomes"]>;

interface RunTableProps {
  readonly runs: readonly RunItem[];
  readonly outcomes: Outcomes;
  readonly chosen: number | null;
}

export function RunTable({ runs, outcomes, chosen }: RunTableProps): ReactNode {
  const now = useMinute();
  return (
    <table className="t stacked">
      <thead>
        <tr>
          <th>Status</th>
          <th>Run</th>
          <th>Workflow</th>
          <th className="hide-s">Last 20</th>
          <th className="wide">What happened</th>
          <th className="hide-s">Steps</th>
          <th className="hide-s">Labels</th>
          <th className="r hide-s">Started</th>
          <th className="r">Took</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow
            key={run.run_id}
            run={run}
            outcomes={outcomes[run.workflow] ?? []}
            isChosen={run.run_id === chosen}
            now={now}
          />
        ))}
      </tbody>
    </table>
  );
}

function RunRow({
  run,
  outcomes,
  isChosen,
  now,
}: {
  readonly run: RunItem;
  readonly outcomes: Outcomes[string];
  readonly isChosen: boolean;
  readonly now: number;
}): ReactNode {
  const { face, words, tone } = standingInList(run);
  return (
    <tr className={isChosen ? "sel" : undefined} data-run={run.run_id}>
      <td>
        <span className={`row status ${tone}`}>
          <Doll face={face} />
          {words}
        </span>
      </td>
      <td>
        <a
          className="link num"
          href={addressOf(["runs", run.run_id])}
          aria-current={isChosen ? "true" : undefined}
        >
          #{run.run_id}
        </a>
      </td>
      <td>
        <span className="row name" title={`${run.workflow}, version ${run.version}`}>
          <a className="cut" href={addressOf(["runs"], { workflow: run.workflow })}>
            {run.workflow}
          </a>
          <span className="small dim">v{run.version}</span>
        </span>
      </td>
      <td className="hide-s">
        <Last20 outcomes={outcomes} />
      </td>
      <td className="wide">
        <div className={run.error === null && run.waiting === 0 ? "cut dim" : "cut"} title={run.happened}>
          {run.happened}
        </div>
      </td>
      <td className="hide-s">
        <Steps run={run} />
      </td>
      <td className="hide-s">
        <Labels labels={run.labels} />
      </td>
      <td className="r dim hide-s" title={exactTime(run.created_at)}>
        {since(run.created_at, now)}
      </td>
      <td className="r">
        {run.duration_ms !== null && durationText(run.duration_ms)}
        {run.status === "running" && <Elapsed since={run.created_at} />}
      </td>
    </tr>
  );
}

const SECOND_MS = 1_000;

/** The elapsed time of a run in progress. */
function Elapsed({ since: at }: { readonly since: string }): ReactNode {
  const passed = Math.max(0, useSecond() - Date.parse(at));
  return <span className="live">{durationText(passed - (passed % SECOND_MS))}</span>;
}

function Steps({ run }: { readonly run: RunItem }): ReactNode {
  const { parts, done, all } = partsOf(run);
  return (
    <div className="row steps-of-run">
      <div className="bar" role="img" aria-label={`${done} of ${count(all, "step")} completed`}>
        {parts.map(({ tone, share }) => (
          <i key={tone} className={`b-${tone}`} style={{ width: `${share * 100}%` }} />
        ))}
      </div>
      <span className="num small dim">
        {done}/{all}
      </span>
    </div>
  );
}

const OUTCOME_WORDS = {
  at_once: "at once",
  rescued: "rescued",
  handled: "with a handled failure",
  held: "held",
  failed: "failed",
  canceled: "canceled",
  active: "running",
} as const;
type Outcome = keyof typeof OUTCOME_WORDS;
/** Heights of bars by outcome: the worse, the higher. */
const HEIGHTS: { readonly [outcome in Outcome]: number } = {
  at_once: 6,
  rescued: 10,
  handled: 12,
  held: 14,
  failed: 18,
  canceled: 4,
  active: 3,
};
const BAR = 5;

/** The outcomes of a workflow's last runs, the newest on the right. */
export function Last20({ outcomes }: { readonly outcomes: Outcomes[string] }): ReactNode {
  const counts = new Map<Outcome, number>();
  for (const { outcome } of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const words = [...counts].map(([outcome, times]) => `${times} ${OUTCOME_WORDS[outcome]}`).join(", ");
  return (
    <svg className="last20" viewBox="0 0 100 18" role="img" aria-label={`Last ${outcomes.length}: ${words}`}>
      <title>{words}</title>
      {outcomes.map(({ run_id, outcome }, index) => (
        <rect
          key={run_id}
          className={`o-${outcome}`}
          x={index * BAR}
          y={18 - HEIGHTS[outcome]}
          width={BAR - 1.5}
          height={HEIGHTS[outcome]}
        />
      ))}
    </svg>
  );
}

/** A wide window has room for two labels, a narrow one for one. */
const MAX_LABELS = 2;

function Labels({ labels }: { readonly labels: RunItem["labels"] }): ReactNode {
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return (
    <span className="row" title={withMarks(all.join(", "))}>
      {all.slice(0, MAX_LABELS).map((label, place) => (
        <a
          key={label}
          className={place === 0 ? "chip line cut" : "chip line cut roomy"}
          href={addressOf(["runs"], { label })}
        >
          {withMarks(label)}
        </a>
      ))}
      {all.length > MAX_LABELS && <span className="small dim roomy">+{all.length - MAX_LABELS}</span>}
      {all.length > 1 && <span className="small dim tight">+{all.length - 1}</span>}
    </span>
  );
}
