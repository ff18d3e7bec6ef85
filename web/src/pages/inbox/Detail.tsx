import { type ReactNode, useEffect, useState } from "react";
import { looksLikeError } from "../../../../src/core/text/error-lines.js";
import { nameOf } from "../../../../src/report/lookup/job-name.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Keys } from "../../keys/KeysOverlay.js";
import { Doll } from "../../parts/Doll.js";
import { RungCells } from "../../parts/RungCells.js";
import { useMinute } from "../../parts/use-minute.js";
import { addressOf } from "../../place.js";
import { linesOf } from "../../words/log-lines.js";
import { blocksOf, type Problem } from "../../words/problems.js";
import { count, standingOf } from "../../words/status.js";
import { exactTime, since } from "../../words/times.js";
import { actionsFor } from "./actions.js";
import { Plan } from "./Plan.js";

const MAX_ITEMS = 1_000;
const ERROR_LINES = 12;

interface DetailProps {
  /** As the list has it. */
  readonly problem: Problem;
  readonly mayAct: boolean;
  /** What came of the last decision; it stands here for a moment instead of the next one. */
  readonly result: string | null;
  readonly onDecided: (words: string) => void;
}

/** One problem: what broke, what was tried, what it blocks, in which runs, and one decision for all of them. */
export function Detail({ problem: listed, mayAct, result, onDecided }: DetailProps): ReactNode {
  const query = { problem: listed.id, items: MAX_ITEMS };
  const { data, reload } = useLive(
    `problem ${listed.id}`,
    () => dataOf(api.GET("/api/v1/problems", { params: { query } })),
    (runId) => listed.items.some(({ run_id }) => run_id === runId),
  );
  const whole = data?.items[0] ?? listed;
  // A run that joins the problem is none of those that are known here: only the list has heard of it.
  const known = data?.items[0]?.jobs;
  useEffect(() => {
    if (known !== undefined && known !== listed.jobs) reload();
  }, [known, listed.jobs, reload]);
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set());
  const jobs = whole.items.filter(({ job_id }) => !leftOut.has(job_id));
  const leave = (more: readonly number[]): void => setLeftOut(new Set([...leftOut, ...more]));
  return (
    <>
      <Head problem={whole} />
      {result !== null && (
        <p className="banner" role="status">
          <b>{result}</b>
        </p>
      )}
      {mayAct && result === null && (
        <Plan
          problems={[whole]}
          jobs={jobs}
          actions={actionsFor(whole)}
          {...(whole.question === null ? {} : { choices: whole.question.choices })}
          onLeaveOut={leave}
          onDecided={onDecided}
        />
      )}
      {whole.question === null ? (
        <WhatBroke problem={whole} />
      ) : (
        <p className="prompt">{whole.question.prompt}</p>
      )}
      {whole.question === null && <WhatWasTried problem={whole} />}
      {whole.blocks.steps > 0 && <WhatItBlocks problem={whole} />}
      <RunsOf problem={whole} mayAct={mayAct} leftOut={leftOut} onChange={setLeftOut} />
    </>
  );
}

function Head({ problem }: { readonly problem: Problem }): ReactNode {
  const now = useMinute();
  const { kind, title, step, workflow, error, signature, first_at, last_at, items } = problem;
  const newest = items[0];
  return (
    <header className="row top-of-detail">
      <Doll face={kind === "failed" ? "failed" : "held"} size="l" />
      <div className="grow">
        <h2>{title}</h2>
        <div className="small dim row wrap">
          <span>
            <b className="mono">{step}</b> in{" "}
            <a className="link" href={addressOf(["runs"], { workflow })}>
              {workflow}
            </a>
          </span>
          {error !== null && <span className="chip mono line">{error.code}</span>}
          {error !== null && <span className="chip line">{error.class}</span>}
          {kind === "dead_letter" && <span className="chip line">dead letter</span>}
          {signature !== null && (
            <button
              type="button"
              className="copy mono-s"
              title={`${signature}; click to copy`}
              onClick={() => void navigator.clipboard?.writeText(signature)}
            >
              {signature.slice(0, 11)}
            </button>
          )}
          <span className="num" title={`first ${exactTime(first_at)}, last ${exactTime(last_at)}`}>
            {problem.jobs > 1 ? `first ${since(first_at, now)}, last ` : ""}
            {since(last_at, now)}
          </span>
        </div>
      </div>
      {newest !== undefined && (
        <a className="btn" href={addressOf(["runs", newest.run_id, nameOf(newest.step, newest.scope)])}>
          Open step <Keys keys="enter" />
        </a>
      )}
    </header>
  );
}

function WhatBroke({ problem: { error, items } }: { readonly problem: Problem }): ReactNode {
  const record = error?.cause ?? error;
  const [newest] = items;
  if (record === null || newest === undefined) return null;
  const stream = linesOf(record.stderr_tail).length > 0 ? "stderr" : "stdout";
  const all = linesOf(stream === "stderr" ? record.stderr_tail : record.stdout_tail);
  const first = all.findIndex(looksLikeError);
  const from =
    first < 0
      ? Math.max(0, all.length - ERROR_LINES)
      : Math.max(0, Math.min(first - 2, all.length - ERROR_LINES));
  const lines = all.slice(from, from + ERROR_LINES);
  return (
    <section>
      <h3>
        What broke
        <span className="dim small">
          {lines.length === 0
            ? "it printed nothing"
            : `end of ${stream}, attempt ${record.attempt ?? newest.attempts} of run ${newest.run_id}`}
        </span>
        <a
          className="link end small"
          href={addressOf(["runs", newest.run_id, nameOf(newest.step, newest.scope)], { tab: "log" })}
        >
          whole log <Keys keys="l" />
        </a>
      </h3>
      {lines.length > 0 && (
        <div className="errs">
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its place
            <div key={index} className={looksLikeError(line) ? "ln hit" : "ln"}>
              <i>{from + index + 1}</i>
              <span>{line}</span>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

function WhatWasTried({ problem }: { readonly problem: Problem }): ReactNode {
  const { ladder, ladder_differs: differs, runs, tried } = problem;
  return (
    <section>
      <h3>
        What was tried
        {differs !== null && runs > 1 && (
          <span className="dim small">
            {differs.runs === 0
              ? `the same in ${differs.of === runs ? `all ${runs}` : `the newest ${differs.of}`} runs`
              : `in the newest run; differs in ${count(differs.runs, "run")}`}
          </span>
        )}
      </h3>
      <RungCells marks={ladder as never} />
      <p className="small dim">{tried}</p>
    </section>
  );
}

function WhatItBlocks({ problem }: { readonly problem: Problem }): ReactNode {
  const { blocks, step } = problem;
  return (
    <section>
      <h3>
        What it {problem.kind === "failed" ? "cost" : "blocks"}
        <span className="dim small">
          {blocksOf(problem)} of {blocks.of}
          {problem.runs > 1 ? " in each run" : ""}
        </span>
      </h3>
      <div className="blocks">
        <span className="st src">{step}</span>
        <span className="ar" aria-hidden="true">
          →
        </span>
        {blocks.names.map((name) => (
          <span key={name} className="st">
            {name}
          </span>
        ))}
        {blocks.steps > blocks.names.length && (
          <span className="dim">and {blocks.steps - blocks.names.length} more</span>
        )}
      </div>
    </section>
  );
}

function RunsOf({
  problem,
  mayAct,
  leftOut,
  onChange,
}: {
  readonly problem: Problem;
  readonly mayAct: boolean;
  readonly leftOut: ReadonlySet<number>;
  readonly onChange: (leftOut: ReadonlySet<number>) => void;
}): ReactNode {
  const now = useMinute();
  const { items, jobs } = problem;
  const left = items.filter(({ job_id }) => !leftOut.has(job_id)).length;
  return (
    <section>
      <h3>
        Runs
        {mayAct && (
          <span className="dim small">
            {left} of {items.length} selected
          </span>
        )}
      </h3>
      {jobs > items.length && (
        <p className="banner small">
          The newest {items.length} of {jobs}. For all of them, a few at a time:{" "}
          <code className="mono-s">daruma redrive --signature {problem.signature} --retry</code>
        </p>
      )}
      <ul className="panel runs-of-problem">
        {items.map((item) => (
          <li key={item.job_id}>
            {mayAct && (
              <input
                type="checkbox"
                className="pick"
                aria-label={`Run ${item.run_id}${item.scope === "root" ? "" : `, ${nameOf(item.step, item.scope)}`}`}
                checked={!leftOut.has(item.job_id)}
                onChange={() => onChange(toggled(leftOut, item.job_id))}
              />
            )}
            {item.run !== null && (
              <Doll face={standingOf({ status: item.run.status, interrupted: false }).face} />
            )}
            <a className="link num" href={addressOf(["runs", item.run_id])}>
              #{item.run_id}
            </a>
            {item.scope !== "root" && <span className="mono-s cut">{nameOf(item.step, item.scope)}</span>}
            <span className="small dim num" title={exactTime(item.since)}>
              {problem.kind === "failed" ? "failed" : problem.kind === "question" ? "asked" : "held"}{" "}
              {since(item.since, now)}
            </span>
            {item.run?.jobs != null && (
              <span className="end small dim num">
                {item.run.jobs.done} of {count(item.run.jobs.all, "step")}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function toggled<T>(set: ReadonlySet<T>, id: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
