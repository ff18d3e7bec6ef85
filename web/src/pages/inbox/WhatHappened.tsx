import { Fragment, type ReactNode } from "react";
import { type ExcerptLine, excerptOf } from "../../../../src/core/model/excerpt.js";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Keys } from "../../keys/KeysOverlay.js";
import { RungCells } from "../../parts/Ladder.js";
import { addressOf } from "../../place.js";
import { countLines, type Problem } from "../../words/problems.js";
import { count } from "../../words/status.js";
import { type TriedLine, triedLines } from "./tried-lines.js";

const MAX_LINES = 12;
type Stream = ExcerptLine["stream"];

/** The lines of the newest run that tell what broke. */
export function WhatBroke({ problem: { error, items } }: { readonly problem: Problem }): ReactNode {
  const record = error?.cause ?? error;
  const [newest] = items;
  const attempt = record?.attempt ?? newest?.attempts ?? 0;
  const logs = useLogs(newest?.job_id, attempt);
  if (record === null || newest === undefined) return null;
  const lines = excerptOf(record, MAX_LINES);
  const streams = [...new Set(lines.map(({ stream }) => stream))];
  // The record has only the end of the log. The earlier lines count as well.
  const numberOf = ({ stream, at }: ExcerptLine): string =>
    logs === null
      ? ""
      : String(Math.max(0, logs[stream].total - countLines(record[`${stream}_tail`])) + at + 1);
  return (
    <section>
      <h3>
        What broke
        <span className="dim small">
          {lines.length === 0
            ? "it printed nothing"
            : `${streams.join(", then ")}, attempt ${attempt} of run ${newest.run_id}`}
        </span>
        <a
          className="link end small"
          href={addressOf(["runs", newest.run_id, nameOf(newest.step, newest.scope)], { tab: "log" })}
        >
          whole log <Keys keys="l" />
        </a>
      </h3>
      {lines.length > 0 && (
        <div className="errs">
          {lines.map((line) => (
            <div key={`${line.stream} ${line.at}`} className={line.telling ? "ln hit" : "ln"}>
              <i>{numberOf(line)}</i>
              <span>{line.text}</span>
            </div>
          ))}
          {streams[0] === "stderr" && (
            <p className="fold">{logs === null ? "\u00a0" : otherText("stdout", logs.stdout)}</p>
          )}
        </div>
      )}
    </section>
  );
}

interface LogSize {
  readonly total: number;
  readonly errors: number;
}

/** The lengths of an attempt's logs; null until they are known, or if they are gone. */
function useLogs(
  jobId: number | undefined,
  attempt: number,
): { readonly [stream in Stream]: LogSize } | null {
  const read = async (stream: Stream): Promise<LogSize> => {
    const query = { attempt, stream, lines: "1:1" };
    const path = { job_id: String(jobId) };
    const { lines } = await dataOf(api.GET("/api/v1/jobs/{job_id}/logs", { params: { path, query } }));
    return { total: lines?.total ?? 0, errors: lines?.error_count ?? 0 };
  };
  const { data } = useLive(
    `logs of ${jobId} ${attempt}`,
    async () =>
      jobId === undefined || attempt === 0
        ? null
        : { stderr: await read("stderr"), stdout: await read("stdout") },
    () => false,
  );
  return data;
}

function otherText(stream: Stream, { total, errors }: LogSize): string {
  if (total === 0) return `${stream} is empty`;
  const told =
    errors === 0 ? "none looks like an error" : `${errors} look${errors === 1 ? "s" : ""} like an error`;
  return `${stream} has ${count(total, "line")}, ${told}`;
}

const MOST = 6;

/** The rungs of the ladder by name, and the outcome of each attempt of the newest run. */
export function WhatWasTried({ problem }: { readonly problem: Problem }): ReactNode {
  const { ladder, ladder_differs: differs, runs, tried } = problem;
  const [newest] = problem.items;
  const { data } = useLive(
    `tried ${newest?.job_id}`,
    async () =>
      newest === undefined
        ? null
        : dataOf(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: String(newest.job_id) } } })),
    (runId) => runId === newest?.run_id,
  );
  const { lines, before } = data === null ? { lines: [], before: 0 } : triedLines(data, MOST);
  return (
    <section>
      <h3>
        What was tried
        {differs !== null && runs > 1 && (
          <span className="dim small">
            {differs.runs === 0
              ? `the same in ${differs.of === runs ? `all ${runs}` : `the newest ${differs.of}`} runs`
              : `in the newest run; differs in ${count(differs.runs, "run")}`}
          </span>
        )}
      </h3>
      <RungCells marks={ladder as never} />
      <p className="small dim">
        {before > 0 && `${count(before, "attempt")} before. `}
        {lines.length === 0
          ? tried
          : lines.map((line) => (
              <Fragment key={line.attempt}>
                <Line line={line} />{" "}
              </Fragment>
            ))}
      </p>
    </section>
  );
}

function Line({ line: { attempt, words, rung, reason } }: { readonly line: TriedLine }): ReactNode {
  const told = `Attempt ${attempt} ${words}; `;
  if (rung === "hold" || rung === "fail")
    return (
      <>
        {told}
        {reason}, so it {rung === "hold" ? "is " : ""}
        <b className={rung === "hold" ? "person" : "bad"}>{rung === "hold" ? "held" : "failed"}</b>.
      </>
    );
  return (
    <>
      {told}
      <b className="mended">{rung}</b> {reason}.
    </>
  );
}
