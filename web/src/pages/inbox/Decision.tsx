import { type ReactNode, useEffect, useId, useMemo, useState } from "react";
import { nameOf } from "../../../../src/report/lookup/job-name.js";
import { api, dataOf, type Problem as Refusal } from "../../api/client.js";
import { Doll } from "../../parts/Doll.js";
import { Refused } from "../../parts/Notice.js";
import { addressOf } from "../../place.js";
import { linesOf } from "../../words/log-lines.js";
import type { Problem } from "../../words/problems.js";
import { count, jobStatusWord } from "../../words/status.js";
import { exactTime } from "../../words/times.js";

type Action = "retry" | "skip" | "fail";

const ACTIONS: readonly {
  readonly action: Action;
  readonly words: string;
  readonly means: string;
  readonly verb: string;
}[] = [
  { action: "retry", words: "Retry", means: "again, all budgets anew", verb: "Retry" },
  { action: "skip", words: "Skip", means: "go on without it", verb: "Skip" },
  { action: "fail", words: "Let it fail", means: "cancels dependents", verb: "Let fail" },
];

interface DecisionProps {
  readonly problem: Problem;
  readonly mayAct: boolean;
  readonly reload: () => void;
}

/** One decision for all runs of a problem, with what it will do before it is sent. */
export function Decision({ problem, mayAct, reload }: DecisionProps): ReactNode {
  const newest = problem.items[0]!;
  const { error } = newest;
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set());
  const decided = (): void => {
    setLeftOut(new Set());
    reload();
  };
  const items = problem.items.filter(({ id }) => !leftOut.has(id));
  const stderr = error === null ? [] : linesOf(error.stderr_tail ?? "").slice(-12);
  return (
    <div className="decision">
      <header className="row">
        <Doll face="held" size="l" />
        <div className="grow">
          <h2>{error?.message ?? newest.question?.prompt ?? "It is held"}</h2>
          <div className="small dim row wrap">
            <span className="mono">{problem.step}</span> in
            <a className="link" href={addressOf(["runs"], { workflow: problem.workflow })}>
              {problem.workflow}
            </a>
            {error !== null && <span className="chip mono line">{error.code}</span>}
            {error !== null && <span className="chip line">{error.class}</span>}
            <span>
              first {exactTime(problem.firstAt)}, last {exactTime(problem.lastAt)}
            </span>
          </div>
        </div>
        <a className="btn" href={addressOf(["runs", newest.run_id, nameOf(newest.step, newest.scope)])}>
          Open step
        </a>
      </header>
      {mayAct && problem.kind !== "question" && <Plan items={items} onDecided={decided} />}
      {problem.kind === "question" && (
        <p className="banner">
          Answer it:{" "}
          <code className="mono-s">
            daruma answer {newest.run_id} {newest.step}
          </code>
        </p>
      )}
      {stderr.length > 0 && (
        <section>
          <h3>What broke, the last lines of stderr in run {newest.run_id}</h3>
          <div className="errs">
            {stderr.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its place
              <div key={index} className="ln">
                <i>{index + 1}</i>
                <span>{line}</span>
              </div>
            ))}
          </div>
        </section>
      )}
      <section>
        <h3>
          Runs, {items.length} of {problem.items.length} selected
        </h3>
        <ul className="panel runs-of-problem">
          {problem.items.map((item) => (
            <li key={item.id} className="row">
              <input
                type="checkbox"
                aria-label={`Run ${item.run_id}`}
                checked={!leftOut.has(item.id)}
                onChange={() => setLeftOut(toggled(leftOut, item.id))}
              />
              <a className="link num" href={addressOf(["runs", item.run_id])}>
                #{item.run_id}
              </a>
              <span className="mono-s">{nameOf(item.step, item.scope)}</span>
              <span className="end small dim">held since {exactTime(item.since)}</span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function toggled(set: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

type Preview = Awaited<ReturnType<typeof resolve>>;

function resolve(jobs: readonly number[], action: Action, reason: string, key: string, dryRun: boolean) {
  const given = reason.trim() === "" ? {} : { reason: reason.trim() };
  const classifications = jobs.map((job_id) => ({ job_id, action, ...given }));
  return dataOf(api.POST("/api/v1/holds/resolve", { body: { classifications, key, dry_run: dryRun } }));
}

function Plan({
  items,
  onDecided,
}: {
  readonly items: Problem["items"];
  readonly onDecided: () => void;
}): ReactNode {
  const [action, setAction] = useState<Action>("retry");
  const [reason, setReason] = useState("");
  const [preview, setPreview] = useState<Preview | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [sending, setSending] = useState(false);
  // Made when the panel opens: a decision that is sent twice is taken once.
  const key = useMemo(() => crypto.randomUUID(), []);
  const field = useId();
  const jobs = useMemo(() => items.map(({ id }) => id), [items]);
  const asked = jobs.join(",");
  useEffect(() => {
    let current = true;
    setPreview(null);
    if (asked === "") return;
    resolve(asked.split(",").map(Number), action, "", `${key}/preview`, true).then(
      (answer) => current && setPreview(answer),
      (error: Refusal) => current && setRefusal(error),
    );
    return () => {
      current = false;
    };
  }, [asked, action, key]);
  const send = async (): Promise<void> => {
    setSending(true);
    try {
      await resolve(jobs, action, reason, `${key}/${action}/${asked}`, false);
      setRefusal(null);
      onDecided();
    } catch (error) {
      setRefusal(error as Refusal);
    }
    setSending(false);
  };
  const { verb } = ACTIONS.find((one) => one.action === action)!;
  const runs = new Set(items.map(({ run_id }) => run_id)).size;
  return (
    <div className="panel plan">
      <div className="choices" role="radiogroup" aria-label="Decision">
        {ACTIONS.map((one) => (
          // biome-ignore lint/a11y/useSemanticElements: a radio button cannot hold two lines of text
          <button
            key={one.action}
            type="button"
            role="radio"
            aria-checked={one.action === action}
            className={one.action === action ? "choice on" : "choice"}
            onClick={() => setAction(one.action)}
          >
            <b>{one.words}</b>
            <span className="small dim">{one.means}</span>
          </button>
        ))}
      </div>
      <div className="pad">
        <label className="row" htmlFor={field}>
          Reason
          <input
            id={field}
            className="input grow"
            value={reason}
            maxLength={2_000}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        <WhatWillHappen preview={preview} runs={runs} />
        {refusal !== null && <Refused problem={refusal} />}
        <div className="row">
          <span className="small dim grow">Kept in the log of every run. It cannot be undone.</span>
          <button
            type="button"
            className={action === "fail" ? "btn danger" : "btn pri"}
            aria-disabled={sending || jobs.length === 0}
            onClick={() => {
              if (!sending && jobs.length > 0) void send();
            }}
          >
            {verb} in {count(runs, "run")}
          </button>
        </div>
      </div>
    </div>
  );
}

function WhatWillHappen({
  preview,
  runs,
}: {
  readonly preview: Preview | null;
  readonly runs: number;
}): ReactNode {
  if (preview === null) return <div className="preview small dim">Asking the server what will happen…</div>;
  const refused = preview.results.filter(({ ok }) => !ok);
  const changes = new Map<string, number>();
  for (const { changed } of preview.runs)
    for (const { step, from, to } of changed) {
      const words = `${step}: ${from === null ? "new" : jobStatusWord(from)} → ${jobStatusWord(to)}`;
      changes.set(words, (changes.get(words) ?? 0) + 1);
    }
  return (
    <div className="preview small">
      <b>What will happen</b> <span className="dim">in {count(runs, "run")}, checked just now</span>
      {[...changes].map(([words, times]) => (
        <div key={words}>
          <span className="mono-s">{words}</span>
          {times > 1 && <span className="dim"> in {times} runs</span>}
        </div>
      ))}
      {refused.map(({ job_id, run_id, error }) => (
        <div key={job_id} className="bad">
          Run {run_id}: {error?.message}
        </div>
      ))}
    </div>
  );
}
