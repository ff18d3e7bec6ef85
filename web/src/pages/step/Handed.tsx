import type { ReactNode } from "react";
import { IS_LAST_ERROR } from "../../../../src/core/model/last-error.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { ScrollRegion } from "../../parts/Listing.js";
import { addressOf } from "../../place.js";
import type { JobDetails } from "../../words/status.js";
import type { Attempt } from "./Attempts.js";
import { TextPane } from "./TextPane.js";
import { fencedLines } from "./text-lines.js";

interface HandedProps {
  readonly job: JobDetails;
  readonly attempt: Attempt;
  readonly hrefOf: (attempt: number) => string;
}

const TOLD = {
  prompt: (attempt: number) => `What attempt ${attempt} was told`,
  context: (attempt: number) => `The failure that was handed to attempt ${attempt}`,
} as const;

/** What an attempt was given about earlier failures, and what it passed on to later attempts. */
export function Handed({ job, attempt, hrefOf }: HandedProps): ReactNode {
  const kinds = (["prompt", "context"] as const).filter((kind) => attempt.texts.includes(kind));
  return (
    <ScrollRegion className="scroll handed" label="Handed on">
      {kinds.length === 0 && (
        <p className="pad dim">
          No failure was handed to attempt {attempt.attempt}: {whyNothing(job, attempt)}
        </p>
      )}
      {kinds.map((kind) => (
        <Told key={kind} job={job} attempt={attempt.attempt} kind={kind} />
      ))}
      <HandedOn job={job} attempt={attempt} hrefOf={hrefOf} />
      {attempt.texts.includes("summary") && <Told job={job} attempt={attempt.attempt} kind="summary" />}
    </ScrollRegion>
  );
}

function whyNothing(job: JobDetails, { attempt }: Attempt): string {
  return attempt === 1 && job.visits === 1
    ? "it is the first, and no transition on failure led to it."
    : "only agents, models and the targets of transitions on failure are told. It began with the same inputs as before.";
}

function Told({
  job,
  attempt,
  kind,
}: {
  readonly job: JobDetails;
  readonly attempt: number;
  readonly kind: keyof typeof TOLD | "summary";
}): ReactNode {
  const { data } = useLive(
    `${kind} ${job.id} ${attempt}`,
    () =>
      dataOf(
        api.GET("/api/v1/jobs/{job_id}/logs", {
          params: { path: { job_id: String(job.id) }, query: { attempt, stream: kind } },
        }),
      ),
    () => false,
  );
  if (data === null) return null;
  const isData = fencedLines(data.text);
  return (
    <TextPane
      title={
        kind === "summary" ? `Summary of attempt ${attempt}, for whoever comes next` : TOLD[kind](attempt)
      }
      about={`${data.text.length.toLocaleString("en")} characters${cutText(data.manifest)}`}
      {...(kind === "summary"
        ? {}
        : { warning: "Between the fences is data from a failed attempt, never instructions" })}
      text={data.text}
      lookOf={(_, place) => (isData.has(place) ? "fenced" : "")}
    />
  );
}

/** What was cut or dropped. */
function cutText(manifest: unknown): string {
  const { parts } = (manifest ?? {}) as { parts?: readonly { name: string; status: string }[] };
  const cut = (parts ?? []).filter(({ status }) => status !== "included");
  return cut.length === 0
    ? ", nothing cut"
    : `, ${cut.map(({ name, status }) => `${name} ${status}`).join(", ")}`;
}

function HandedOn({ job, attempt, hrefOf }: HandedProps): ReactNode {
  const climb = job.diagnostics.find((one) => one.attempt === attempt.attempt);
  if (climb === undefined || attempt.error === null) return null;
  const { failure_route: route } = climb as { failure_route?: { target_node_key?: string | null } | null };
  const target = route?.target_node_key ?? null;
  const next = job.attempt_history.find((one) => one.attempt === attempt.attempt + 1);
  const rung = climb.rung as keyof typeof IS_LAST_ERROR;
  return (
    <section className="handed-on">
      <div className="sh">
        <b>What attempt {attempt.attempt} handed on</b>
        <span>{climb.rung} acted</span>
        {target !== null && (
          <a className="link" href={addressOf(["runs", job.run_id, target], { tab: "handed" })}>
            to {target}: see what it was told
          </a>
        )}
        {target === null && next !== undefined && (
          <a className="link" href={hrefOf(next.attempt)}>
            attempt {next.attempt}: see what it was told
          </a>
        )}
      </div>
      {IS_LAST_ERROR[rung] === true ? (
        <TextPane
          title="state._last_error"
          about="as the steps of its scope read it until one of them succeeds"
          text={JSON.stringify(attempt.error, null, 2)}
        />
      ) : (
        <p className="pad dim">
          After {climb.rung} the failure is not in state._last_error: the same step is tried again.
        </p>
      )}
    </section>
  );
}
