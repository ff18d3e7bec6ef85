import type { ReactNode } from "react";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { expiryText } from "../../../../src/tell/words/expiry-text.js";
import { marksOf } from "../../../../src/tell/words/rung-marks.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Glyph } from "../../parts/Glyph.js";
import { LadderStrip } from "../../parts/Ladder.js";
import { HeadLines, PageHead } from "../../parts/PageHead.js";
import { useWorkflowOf } from "../../parts/trail.js";
import { useMinute } from "../../parts/use-minute.js";
import { addressOf } from "../../place.js";
import { sentence } from "../../words/moment.js";
import type { Problem } from "../../words/problems.js";
import { count, type JobDetails } from "../../words/status.js";
import { exactTime } from "../../words/times.js";
import { Controls } from "../run/Controls.js";
import { stepControls } from "../run/control-words.js";
import { RUNGS } from "./rungs.js";

interface HeadProps {
  readonly job: JobDetails;
  readonly climbs: readonly JobDetails["diagnostics"][number]["considered"][];
  readonly mayAct: boolean;
  readonly reload: () => void;
}

/** The status of a step, its controls, and a link to the problem that it is part of. */
export function StepHead({ job, climbs, mayAct, reload }: HeadProps): ReactNode {
  const problem = useProblemOf(job);
  useWorkflowOf(job.run_id, job.workflow);
  const now = useMinute();
  const isAsking = job.waits_for?.kind === "answer";
  const words = job.dead_letter ? "Held, dead letter" : isAsking ? "Asks a question" : job.status;
  const controls = (
    <Controls
      run={job}
      step={nameOf(job.step, job.scope)}
      shown={stepControls(job.dead_letter)}
      isPast={false}
      reload={reload}
    />
  );
  return (
    <PageHead controls={mayAct ? controls : null}>
      <Glyph status={job.handled ? "handled" : isAsking ? "asking" : job.status} />
      <HeadLines
        label="About this step"
        headline={
          <>
            <h2 className="title mono">
              <span className="cut">{nameOf(job.step, job.scope)}</span>
            </h2>
            <b className={job.status === "held" || isAsking ? "person" : undefined}>{sentence(words)}</b>
            <span className="chip line">{job.definition?.type}</span>
            {climbs.length > 0 && <LadderStrip marks={marksOf(RUNGS, climbs)} />}
          </>
        }
        meta={
          <>
            {problem !== null && <InboxLink problem={problem} />}
            {job.expiry !== null && (
              <span title={exactTime(job.expiry.at)}>{sentence(expiryText(job.expiry, now))}</span>
            )}
            {job.waits_for !== null && job.expiry === null && (
              <span className="wait">Waits: {job.waits_for.text}</span>
            )}
            {problem !== null && problem.blocks.names.length > 0 && problem.kind !== "failed" && (
              <span>
                holds up <span className="mono-s">{heldUp(problem)}</span>
              </span>
            )}
            <span className="hide-n">
              {job.workflow} #{job.run_id}
            </span>
            <span>
              {count(job.attempt_history.length, "attempt")}
              {job.visits > 1 && `, ${count(job.visits, "visit")}`}
            </span>
            <span>job {job.id}</span>
          </>
        }
      />
    </PageHead>
  );
}

const MAX_HELD_UP = 3;

function heldUp({ blocks: { names, steps } }: Problem): string {
  const told = names.slice(0, MAX_HELD_UP).join(", ");
  return steps > MAX_HELD_UP ? `${told} and ${steps - MAX_HELD_UP} more` : told;
}

/** The inbox's problem with this job; null if there is none. */
function useProblemOf({ id, run_id, status }: JobDetails): Problem | null {
  const mayBe = status === "held" || status === "failed" || status === "waiting";
  const { data } = useLive(
    `problem of ${id} ${mayBe}`,
    async () => {
      if (!mayBe) return null;
      const query = { job: id, items: 0 };
      return (await dataOf(api.GET("/api/v1/problems", { params: { query } }))).items[0] ?? null;
    },
    (changed) => changed === run_id,
  );
  return data;
}

function InboxLink({ problem: { id, kind, runs } }: { readonly problem: Problem }): ReactNode {
  const others = runs > 1 ? `, with ${count(runs - 1, "other run")}` : "";
  return (
    <a className="link" href={addressOf(["inbox"], { problem: id })}>
      {kind === "question" ? "Answer" : "Decide"} in the inbox{others}
    </a>
  );
}
