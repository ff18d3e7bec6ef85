import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { type StepPlace, writtenStep } from "../../../../src/core/model/written-step.js";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { expiryText } from "../../../../src/tell/words/expiry-text.js";
import { marksOf, type RungMark } from "../../../../src/tell/words/rung-marks.js";
import { Doll } from "../../parts/Doll.js";
import { LadderStrip } from "../../parts/Ladder.js";
import { useMinute } from "../../parts/use-minute.js";
import { addressOf } from "../../place.js";
import { sentence, withoutCode } from "../../words/moment.js";
import { endWords, recoveryWords } from "../../words/recoveries.js";
import { count } from "../../words/status.js";
import { withMarks } from "../../words/unseen.js";
import { RUNGS } from "../step/rungs.js";
import type { Drawing, RunStory, RunSummary, TimelineRow, Told } from "./run-data.js";
import { runStanding } from "./run-standing.js";
import { neverBegun, stepBlocks, stepsText, storyLines } from "./story-lines.js";

interface StoryProps {
  readonly run: RunSummary;
  readonly story: Pick<RunStory, "recoveries">;
  readonly rows: readonly TimelineRow[];
  readonly drawing: Pick<Drawing, "nodes"> | null;
  readonly chosen: number | null;
  readonly choose: (number: number | null) => void;
  /** Shown before the end of the story. */
  readonly children?: ReactNode;
}

/** What was tried and why, with a number for each recovery. Undisturbed stretches are one grey line. */
export function Story({ run, story, rows, drawing, chosen, choose, children }: StoryProps): ReactNode {
  const now = useMinute();
  const until = run.at?.seq ?? null;
  const lines = useMemo(() => storyLines(story.recoveries, rows, until), [story, rows, until]);
  const { holds, failures } = run.summary;
  const told = [
    ...(story.recoveries.length === 0 ? ["No recoveries."] : []),
    `${run.summary.counts.join(", ")}.`,
    ...(drawing === null ? [] : neverBegun(drawing)),
  ].join(" ");
  return (
    <ol className="story">
      {lines.map((line) =>
        line.kind === "straight" ? (
          <li key={`s${line.seq}`} className="flat">
            <span />
            <span>{stepsText(line.steps, "completed")}</span>
          </li>
        ) : (
          <Entry
            key={line.recovery.number}
            runId={run.run_id}
            recovery={line.recovery}
            items={rows.find(({ step }) => step === line.recovery.step)?.jobs ?? 0}
            isChosen={line.recovery.number === chosen}
            choose={choose}
          />
        ),
      )}
      {stepBlocks(
        holds.filter(({ kind }) => kind === "hold"),
        ({ error }) => error?.signature ?? "",
      ).map(({ items, kinds }) => (
        <Outcome
          key={items[0]!.id}
          runId={run.run_id}
          {...namesOf(items)}
          tone="person"
          words={
            items.length > 1
              ? `has ${count(items.length, "item")} that wait for a person`
              : "waits for a person"
          }
          messages={kinds.map((kind) => [kind.length, kind[0]!.error?.message])}
          {...untilOf(items, now)}
        />
      ))}
      {holds
        .filter(({ kind }) => kind === "question")
        .map((hold) => (
          <Outcome
            key={hold.id}
            runId={run.run_id}
            {...namesOf([hold])}
            tone="person"
            words="asks a question"
            messages={[[1, withMarks(hold.question?.prompt ?? "")]]}
            isError={false}
            {...untilOf([hold], now)}
          />
        ))}
      {stepBlocks(failures, ({ signature, code, message }) => signature ?? `${code} ${message}`).map(
        ({ items, kinds }) => (
          <Outcome
            key={items[0]!.job_id}
            runId={run.run_id}
            {...namesOf(items)}
            tone="bad"
            words={items.length > 1 ? `has ${count(items.length, "failed item")}` : "failed"}
            messages={kinds.map((kind) => [kind.length, kind[0]!.message])}
          />
        ),
      )}
      {children}
      {run.undone !== null && (
        <li className="flat">
          <span />
          <span>{undoneText(run.undone)}</span>
        </li>
      )}
      <End run={run} told={told} />
    </ol>
  );
}

/** The common name of several jobs, and the one that a click opens. */
function namesOf(items: readonly StepPlace[]): { readonly step: string; readonly job: string } {
  const first = items[0]!;
  const job = nameOf(first.step, first.scope);
  return { step: items.length > 1 ? writtenStep(first) : job, job };
}

/** The earliest time at which one of them expires. */
function untilOf(
  holds: readonly RunSummary["summary"]["holds"][number][],
  now: number,
): { readonly more?: string } {
  const [first] = holds.flatMap(({ expiry }) => expiry ?? []).sort((a, b) => (a.at < b.at ? -1 : 1));
  return first === undefined ? {} : { more: sentence(expiryText(first, now)) };
}

/** How the run ended, if it has. */
function End({ run, told }: { readonly run: RunSummary; readonly told: string }): ReactNode {
  if (run.finished_at === null)
    return (
      <li className="flat last">
        <span />
        <span>{told}</span>
      </li>
    );
  const { face, tone, words } = runStanding(run);
  return (
    <li className="last">
      <Doll face={face} />
      <div>
        <div className={`ti ${tone}`}>
          Run {run.run_id} {words[0]!.toLowerCase() + words.slice(1)}
        </div>
        <p>{told}</p>
      </div>
    </li>
  );
}

interface EntryProps {
  readonly runId: number;
  readonly recovery: Told;
  /** The number of all items of the step. */
  readonly items: number;
  readonly isChosen: boolean;
  readonly choose: (number: number | null) => void;
}

function Entry({ runId, recovery, items, isChosen, choose }: EntryProps): ReactNode {
  const { number, step, scope, attempt, rung, error, considered, cost, left, reason } = recovery;
  const name = recovery.jobs > 1 ? step : nameOf(step, scope);
  const isEdge = rung === "edge";
  const entry = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) entry.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    <li ref={entry} className={isChosen ? "sel" : undefined} aria-current={isChosen ? "true" : undefined}>
      <button
        type="button"
        className={isEdge ? "n bad" : "n"}
        aria-label={`Recovery ${number}`}
        aria-pressed={isChosen}
        onClick={() => choose(isChosen ? null : number)}
      >
        {number}
      </button>
      <div>
        <div className="ti">
          <span>
            <a className="mono" href={addressOf(["runs", runId, name], { attempt: String(attempt) })}>
              {name}
            </a>{" "}
            {recoveryWords(recovery, items)}
            {endWords(recovery)}
          </span>
          <LadderStrip marks={actedOften(marksOf(RUNGS, [considered]), recovery)} />
        </div>
        {error !== null && <div className="er">{error.broke}</div>}
        <p>
          {error !== null && `${error.code}, ${error.class}. `}
          {sentence(withoutCode(reason, error?.code))}. {cost} {left}
        </p>
      </div>
    </li>
  );
}

/** Sets how often the acting rung acted before the step came back. */
function actedOften(marks: readonly RungMark[], { rung, times, jobs }: Told): RungMark[] {
  return marks.map((mark) => (mark.rung === rung ? { ...mark, times: Math.max(times, jobs) } : mark));
}

/** A text such as "hotel was undone by cancel-hotel; flight is not undone." */
function undoneText({ done, left }: NonNullable<RunSummary["undone"]>): string {
  const parts = [
    ...done.map(({ step, scope, by }) => `${nameOf(step, scope)} was undone by ${by}`),
    ...left.map(({ step, scope, by }) =>
      by === null ? `${nameOf(step, scope)} is not undone` : `${by} undoes ${nameOf(step, scope)}`,
    ),
  ];
  return `${parts.join("; ")}.`;
}

/** How many different messages of a step's jobs are shown. */
const MAX_KINDS = 5;

interface OutcomeProps {
  readonly runId: number;
  readonly step: string;
  /** The job that a click opens. By default the one named like the step. */
  readonly job?: string;
  readonly tone: "person" | "bad" | "dim";
  readonly words: string;
  /** Messages with the number of jobs that had them. */
  readonly messages: readonly (readonly [number, string | undefined])[];
  readonly more?: string;
  /** Whether the messages describe failures. */
  readonly isError?: boolean;
}

export function Outcome({
  runId,
  step,
  job = step,
  tone,
  words,
  messages,
  more,
  isError = true,
}: OutcomeProps): ReactNode {
  return (
    <li>
      <span />
      <div>
        <div className={`ti ${tone}`}>
          <a className="mono" href={addressOf(["runs", runId, job])}>
            {step}
          </a>{" "}
          {words}
        </div>
        {messages.slice(0, MAX_KINDS).map(
          ([times, message]) =>
            message !== undefined && (
              <div key={message} className={isError ? "er" : undefined}>
                {times > 1 && `${times} × `}
                {message}
              </div>
            ),
        )}
        {messages.length > MAX_KINDS && <p>and {count(messages.length - MAX_KINDS, "other failure")}</p>}
        {more !== undefined && <p>{more}</p>}
      </div>
    </li>
  );
}
