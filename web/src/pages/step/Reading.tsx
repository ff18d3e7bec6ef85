import type { ReactNode } from "react";
import { LogViewer } from "../../log/LogViewer.js";
import { linePlace } from "../../log/line-window.js";
import type { JobDetails } from "../../words/status.js";
import type { Attempt } from "./Attempts.js";
import { Compare } from "./Compare.js";
import { Definition } from "./Definition.js";
import { Handed } from "./Handed.js";
import { Patch } from "./Patch.js";
import { TextPane } from "./TextPane.js";

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
