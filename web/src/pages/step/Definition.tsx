import { type ReactNode, useState } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Refused } from "../../parts/Notice.js";
import { addressOf } from "../../place.js";
import type { JobDetails } from "../../words/status.js";
import { useDrawing } from "../run/run-data.js";
import { linesOfStep } from "./definition-lines.js";
import { TextPane } from "./TextPane.js";

/** The definition that the run uses, even if the file has changed: as lines of the file, or as Daruma read it. */
export function Definition({ job }: { readonly job: JobDetails }): ReactNode {
  const [asRead, setAsRead] = useState(false);
  const { data, problem } = useLive(
    `definition ${job.run_id}`,
    () => dataOf(api.GET("/api/v1/runs/{run_id}/definition", { params: { path: { run_id: job.run_id } } })),
    () => false,
  );
  const { data: drawing } = useDrawing(job.run_id);
  if (data === null) return problem === null ? null : <Refused problem={problem} />;
  const about = `as ${data.workflow} had it when run ${job.run_id} began`;
  const lines = data.text === null || drawing === null ? [] : linesOfStep(data.text, drawing, job.step);
  const choice = (
    <div className="seg">
      {[false, true].map((each) => (
        <button
          key={String(each)}
          type="button"
          aria-pressed={each === asRead}
          onClick={() => setAsRead(each)}
        >
          {each ? "As read" : "File"}
        </button>
      ))}
    </div>
  );
  if (lines.length > 0 && !asRead)
    return (
      <TextPane
        title={job.step}
        about={about}
        tools={
          <>
            <a className="btn ghost" href={addressOf(["workflows", data.workflow])}>
              Whole text
            </a>
            {choice}
          </>
        }
        text={lines.map(({ text }) => text).join("\n")}
        numberOf={(place) => lines[place]?.number ?? null}
      />
    );
  const { steps = [] } = data.definition as { steps?: readonly { id: string }[] };
  const step = steps.find(({ id }) => id === job.step);
  return (
    <TextPane
      title={job.step}
      about={`${about}, definition ${data.definition_hash.slice(0, 7)}`}
      {...(lines.length === 0 ? {} : { tools: choice })}
      text={JSON.stringify(step ?? null, null, 2)}
    />
  );
}
