import { type ReactNode, useState } from "react";
import type { Problem as Refusal } from "../api/client.js";
import { Doll } from "../parts/Doll.js";
import { Empty, Refused } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import { type Problem, runsOf } from "../words/problems.js";
import { count } from "../words/status.js";
import { since } from "../words/times.js";
import { Decision } from "./inbox/Decision.js";

interface InboxProps {
  readonly place: Place;
  /** Null: not read yet. */
  readonly problems: readonly Problem[] | null;
  readonly problem: Refusal | null;
  readonly mayAct: boolean;
  readonly reload: () => void;
}

/** Not runs but decisions: seven runs with one cause are one row. */
export function Inbox({ place, problems, problem, mayAct, reload }: InboxProps): ReactNode {
  const [now] = useState(Date.now());
  if (problems === null) return problem === null ? null : <Refused problem={problem} />;
  if (problems.length === 0) return <AllCalm />;
  const chosen = problems.find(({ key }) => key === place.query.get("problem")) ?? problems[0]!;
  const runs = new Set(problems.flatMap(runsOf)).size;
  return (
    <div className={place.query.has("problem") ? "inbox opened" : "inbox"}>
      <section className="list" aria-label="Problems">
        <div className="head row">
          <h2>
            {count(problems.length, "problem")} {problems.length === 1 ? "needs" : "need"} a person
          </h2>
          <span className="dim">in {count(runs, "run")}</span>
        </div>
        {problem !== null && <Refused problem={problem} />}
        <div className="scroll">
          <div className="sect">
            Waiting for a decision <span>{problems.length}</span>
          </div>
          {problems.map((one) => (
            <Row key={one.key} problem={one} now={now} isChosen={one.key === chosen.key} />
          ))}
        </div>
      </section>
      <div className="split" />
      <section className="detail" aria-label="Decision">
        <a className="btn only-s back" href={addressOf(["inbox"])}>
          All problems
        </a>
        <Decision key={chosen.key} problem={chosen} mayAct={mayAct} reload={reload} />
      </section>
    </div>
  );
}

function Row({
  problem,
  now,
  isChosen,
}: {
  readonly problem: Problem;
  readonly now: number;
  readonly isChosen: boolean;
}): ReactNode {
  const newest = problem.items[0]!;
  const { error, question } = newest;
  const what =
    problem.kind === "question" ? (question?.prompt ?? "asks a question") : (error?.message ?? "held");
  return (
    <a
      className={isChosen ? "item focus" : "item"}
      href={addressOf(["inbox"], { problem: problem.key })}
      aria-current={isChosen ? "true" : undefined}
    >
      <span />
      <Doll face="held" />
      <span className="what cut" title={what}>
        {what}
      </span>
      <b className="small">{count(runsOf(problem).length, "run")}</b>
      <span className="where">
        <span className="mono">{problem.step}</span> in {problem.workflow}
        {error !== null && <span className="chip mono line">{error.code}</span>}
        {error?.class}
        {newest.dead_letter && ", dead letter"}
        <span className="end">{since(problem.lastAt, now)}</span>
      </span>
    </a>
  );
}

function AllCalm(): ReactNode {
  const tryIt = `echo '{name: hold, unhandled: hold, steps: {try: {exec: "false"}}}' | daruma run - --server ${location.origin}`;
  return (
    <div className="calm">
      <Doll face="completed" size="xl" />
      <Empty title="Nothing waits for you">
        <p>
          With <code className="mono-s">unhandled: hold</code> in a workflow file, a failure that nothing else
          handles waits here until somebody decides.
        </p>
        <p>
          To see one: <code className="mono-s">{tryIt}</code>
        </p>
      </Empty>
    </div>
  );
}
