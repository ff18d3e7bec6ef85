import { type ReactNode, useState } from "react";
import { nameOf } from "../../../../src/report/lookup/job-name.js";
import { expiryText } from "../../../../src/report/words/expiry-text.js";
import { marksOf } from "../../../../src/report/words/rung-marks.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Glyph } from "../../parts/Glyph.js";
import { Icon } from "../../parts/Icon.js";
import { LadderStrip } from "../../parts/Ladder.js";
import { useMinute } from "../../parts/use-minute.js";
import { addressOf } from "../../place.js";
import type { Problem } from "../../words/problems.js";
import { count, type JobDetails, jobStatusWord } from "../../words/status.js";
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

/** How a step stands, what can be done with it, and the way to the problem that it is part of. */
export function StepHead({ job, climbs, mayAct, reload }: HeadProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const problem = useProblemOf(job);
  const now = useMinute();
  return (
    <header className={isOpen ? "runhead open" : "runhead"}>
      <Glyph status={job.handled ? "handled" : job.status} />
      <div className="grow">
        <div className="row">
          <h2 className="title mono">{nameOf(job.step, job.scope)}</h2>
          <b className={job.status === "pending_failed" ? "person" : undefined}>
            {job.dead_letter ? "held, dead letter" : jobStatusWord(job.status)}
          </b>
          {climbs.length > 0 && <LadderStrip marks={marksOf(RUNGS, climbs)} />}
        </div>
        <div className="meta num">
          {problem !== null && <InboxLink problem={problem} />}
          {job.expiry !== null && <span title={exactTime(job.expiry.at)}>{expiryText(job.expiry, now)}</span>}
          <span className="hide-n">
            {job.workflow} #{job.run_id}
          </span>
          <span>
            {count(job.attempt_history.length, "attempt")}, {count(job.visits, "visit")}
          </span>
          <span>job {job.id}</span>
        </div>
      </div>
      {mayAct && (
        <>
          <button
            type="button"
            className="btn icon only-s"
            aria-label="Controls"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="more" />
          </button>
          <Controls
            run={job}
            step={nameOf(job.step, job.scope)}
            shown={stepControls(job.dead_letter)}
            isPast={false}
            reload={reload}
          />
        </>
      )}
    </header>
  );
}

/** The one of the inbox that has this job; null: none has. */
function useProblemOf({ id, run_id, status }: JobDetails): Problem | null {
  const mayBe = status === "pending_failed" || status === "failed" || status === "waiting";
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
