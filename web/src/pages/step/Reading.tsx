import { type ReactNode, useState } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { LogViewer } from "../../log/LogViewer.js";
import { linePlace } from "../../log/line-window.js";
import { Refused } from "../../parts/Notice.js";
import { addressOf } from "../../place.js";
import type { JobDetails } from "../../words/status.js";
import { useDrawing } from "../run/run-data.js";
import type { Attempt } from "./Attempts.js";
import { Compare } from "./Compare.js";
import { Handed } from "./Handed.js";
import { TextPane } from "./TextPane.js";
import { linesOfStep } from "./text-lines.js";

const LOOKS: { readonly [sign: string]: string } = { "+": "added", "-": "removed", "@": "dim" };

/** The changes of an attempt or a checkpoint. */
function Patch({ runId, name }: { readonly runId: number; readonly name: string }): ReactNode {
  const { data, problem } = useLive(
    `patch ${runId} ${name}`,
    () =>
      dataOf(
        api.GET("/api/v1/runs/{run_id}/artifacts/{name}", { params: { path: { run_id: runId, name } } }),
      ),
    () => false,
  );
  if (data === null) return problem === null ? null : <Refused problem={problem} />;
  const isCut = data.next_offset < data.size;
  return (
    <TextPane
      title={name}
      about={isCut ? "only its first 1 MB" : ""}
      text={data.text}
      lookOf={(line) => LOOKS[line[0] ?? ""] ?? ""}
    />
  );
}

type HrefWith = (changes: { readonly [name: string]: string | null }) => string;

interface TabsProps {
  readonly job: JobDetails;
  readonly tab: string;
  readonly chosen: number | null;
  readonly other: number | null;
  readonly hrefWith: HrefWith;
}

/** Tabs for what can be read about an attempt. */
export function Tabs({ job, tab, chosen, other, hrefWith }: TabsProps): ReactNode {
  const hasOutput = job.output !== null && job.output !== undefined;
  const tabs: readonly (readonly [string, ReactNode])[] = [
    ["log", "Log"],
    ...(chosen !== null && other !== null ? [["compare", `Compare ${other} with ${chosen}`] as const] : []),
    ["handed", "Handed on"],
    [
      "output",
      <span key="output">
        Output <span className="c">{hasOutput ? "" : "none"}</span>
      </span>,
    ],
    ["definition", "Definition"],
    ...(tab === "patch" ? [["patch", "Patch"] as const] : []),
  ];
  return (
    <nav className="tabs" aria-label="Of this attempt">
      {tabs.map(([name, words]) => (
        <a
          key={name}
          href={hrefWith({ tab: name === "log" ? null : name })}
          aria-current={tab === name ? "true" : undefined}
        >
          {words}
        </a>
      ))}
      <span className="end row small dim hide-s">
        <kbd>1</kbd>–<kbd>{Math.min(9, Math.max(1, job.attempt_history.length))}</kbd> attempt
      </span>
    </nav>
  );
}

interface ReadingProps {
  readonly job: JobDetails;
  readonly tab: string;
  readonly chosen: Attempt | undefined;
  readonly other: number | null;
  readonly query: URLSearchParams;
  readonly hrefWith: HrefWith;
}

export function Reading({ job, tab, chosen, other, query, hrefWith }: ReadingProps): ReactNode {
  if (tab === "definition") return <Definition job={job} />;
  if (tab === "output")
    return (
      <TextPane
        title="Output"
        about={job.output === null ? "the step has none" : "what other steps read of it"}
        text={JSON.stringify(job.output ?? null, null, 2)}
      />
    );
  const patch = query.get("name");
  if (tab === "patch" && patch !== null) return <Patch runId={job.run_id} name={patch} />;
  if (chosen === undefined) return <p className="pad dim">It has not started.</p>;
  if (tab === "compare" && other !== null)
    return <Compare jobId={job.id} runId={job.run_id} attempt={chosen.attempt} other={other} />;
  if (tab === "handed")
    return <Handed job={job} attempt={chosen} hrefOf={(attempt) => hrefWith({ attempt: String(attempt) })} />;
  return (
    <LogViewer
      key={`${job.id} ${chosen.attempt}`}
      jobId={job.id}
      attempt={chosen.attempt}
      isRunning={chosen.status === "running"}
      hasFailed={chosen.status === "failed"}
      line={linePlace(query.get("line"))}
      onLine={({ stream, line }) => location.replace(hrefWith({ line: `${stream}:${line}` }))}
    />
  );
}

/** The definition that the run uses, even if the file has changed: as lines of the file, or as Daruma read it. */
function Definition({ job }: { readonly job: JobDetails }): ReactNode {
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
