import { Fragment, type ReactNode, useEffect, useState } from "react";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { shellWord } from "../../../../src/tell/words/shell-word.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Keys } from "../../keys/KeysOverlay.js";
import { Doll, type Face } from "../../parts/Doll.js";
import { useMinute } from "../../parts/use-minute.js";
import { addressOf } from "../../place.js";
import { layersOf, type Problem, seenText } from "../../words/problems.js";
import { count, type RunStatus, standingOf } from "../../words/status.js";
import { exactTime, since } from "../../words/times.js";
import { withMarks } from "../../words/unseen.js";
import { actionsFor } from "./actions.js";
import { Plan } from "./Plan.js";
import { WhatBroke, WhatWasTried } from "./WhatHappened.js";

const MAX_ITEMS = 1_000;

interface DetailProps {
  /** The problem as it is in the list. */
  readonly problem: Problem;
  readonly mayAct: boolean;
  /** The result of the last decision, which is shown for a moment before the next problem. */
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
  // A run that joins the problem is not among the known ones, so only the list shows the change.
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
      {whole.question === null && <WhatBroke problem={whole} />}
      {/* The title is only one line of the prompt, without invisible characters. */}
      {whole.question !== null && whole.question.prompt !== whole.title && (
        <p className="prompt">{withMarks(whole.question.prompt)}</p>
      )}
      {whole.question === null && <WhatWasTried problem={whole} />}
      {whole.blocks.steps > 0 && <WhatItBlocks problem={whole} />}
      {whole.kinds.length > 1 && (
        <KindsOf problem={whole} mayAct={mayAct} leftOut={leftOut} onChange={setLeftOut} />
      )}
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
          {signature !== null && <CopySignature signature={signature} />}
          <span className="num" title={`first ${exactTime(first_at)}, last ${exactTime(last_at)}`}>
            {seenText(problem, now)}
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

/** Both texts share one cell, so that nothing beside it moves. */
function CopySignature({ signature }: { readonly signature: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(signature);
    setCopied(true);
  };
  const reset = (): void => setCopied(false);
  return (
    <button
      type="button"
      className={copied ? "copy mono-s copied" : "copy mono-s"}
      title={`${signature}; click to copy`}
      onClick={() => void copy()}
      onPointerLeave={reset}
      onBlur={reset}
    >
      <span>{signature.slice(0, SHORT_CHARS)}</span>
      <span role="status">{copied ? "Copied" : ""}</span>
    </button>
  );
}

const SHORT_CHARS = 11;

function WhatItBlocks({ problem }: { readonly problem: Problem }): ReactNode {
  const { blocks, step, kind } = problem;
  return (
    <section>
      <h3>
        What it {kind === "failed" ? "cost" : "blocks"}
        <span className="dim small">
          {blocks.steps} of {count(blocks.of, "step")}
          {problem.runs > 1 ? " in each run" : ""}
        </span>
      </h3>
      <div className="blocks">
        <span className={kind === "failed" ? "st src bad" : "st src"}>{step}</span>
        {layersOf(blocks).map((names) => (
          <Fragment key={names[0]}>
            <span className="ar" aria-hidden="true">
              →
            </span>
            {names.map((name) => (
              <span key={name} className="st">
                {name}
              </span>
            ))}
          </Fragment>
        ))}
        {blocks.steps > blocks.names.length && (
          <span className="dim">and {blocks.steps - blocks.names.length} more</span>
        )}
      </div>
    </section>
  );
}

interface Choice {
  readonly problem: Problem;
  readonly mayAct: boolean;
  readonly leftOut: ReadonlySet<number>;
  readonly onChange: (leftOut: ReadonlySet<number>) => void;
}

/** Lists the different failures of a step's jobs. One that is not ticked is left out of the decision. */
function KindsOf({ problem, mayAct, leftOut, onChange }: Choice): ReactNode {
  const { kinds, items } = problem;
  return (
    <section>
      <h3>
        In {kinds.length} ways <span className="dim small">most frequent first</span>
      </h3>
      <ul className="panel runs-of-problem">
        {kinds.map(({ signature, code, title, jobs }) => {
          const ids = items.filter((item) => item.signature === signature).map(({ job_id }) => job_id);
          const isIn = ids.some((id) => !leftOut.has(id));
          const without = [...leftOut].filter((id) => !ids.includes(id));
          return (
            <li key={signature}>
              {mayAct && (
                <input
                  type="checkbox"
                  className="pick"
                  aria-label={`Kind ${title}`}
                  checked={isIn}
                  onChange={() => onChange(new Set(isIn ? [...leftOut, ...ids] : without))}
                />
              )}
              <b className="num nowrap">{count(jobs, "item")}</b>
              {code !== null && <span className="chip mono line">{code}</span>}
              <span className="cut" title={title}>
                {title}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function RunsOf({ problem, mayAct, leftOut, onChange }: Choice): ReactNode {
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
          <code className="mono-s">{campaignOf(problem)}</code>
        </p>
      )}
      <ul className="panel runs-of-problem">
        {items.map((item) => (
          <li key={item.job_id}>
            {mayAct && (
              <input
                type="checkbox"
                className="pick"
                aria-label={`Run ${item.run_id}${item.item === null ? "" : `, ${nameOf(item.step, item.scope)}`}`}
                checked={!leftOut.has(item.job_id)}
                onChange={() => onChange(toggled(leftOut, item.job_id))}
              />
            )}
            {item.run !== null && <Doll face={faceOf(problem, item.run.status)} />}
            <a className="link num" href={addressOf(["runs", item.run_id])}>
              #{item.run_id}
            </a>
            {item.item !== null && (
              <span className="mono-s cut" title={nameOf(item.step, item.scope)}>
                {item.item}
              </span>
            )}
            {item.run !== null && (
              <span className="small dim num hide-s" title={exactTime(item.run.started_at)}>
                started {since(item.run.started_at, now)}
              </span>
            )}
            <span className="small dim num" title={exactTime(item.since)}>
              {STOPPED[problem.kind]}{" "}
              {item.run === null
                ? since(item.since, now)
                : `after ${durationText(Date.parse(item.since) - Date.parse(item.run.started_at))}`}
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

function campaignOf({ signature, workflow, step }: Problem): string {
  const which =
    signature === null
      ? `--workflow ${shellWord(workflow)} --step ${shellWord(step)}`
      : `--signature ${signature}`;
  return `daruma redrive ${which} --retry`;
}

const STOPPED = { hold: "held", dead_letter: "held", question: "asked", failed: "failed" } as const;

/** A run with only a question left leans, whatever its status is. */
function faceOf({ kind }: Problem, status: RunStatus): Face {
  return kind === "question" && status === "running"
    ? "held"
    : standingOf({ status, interrupted: false }).face;
}

export function toggled<T>(set: ReadonlySet<T>, id: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
