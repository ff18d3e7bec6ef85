import { type ReactNode, useState } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { ScrollRegion } from "../../parts/Listing.js";
import { Refused } from "../../parts/Notice.js";
import { type AnswerOf, count } from "../../words/status.js";
import { DiffRows } from "./DiffRows.js";

type Comparison = AnswerOf<"/api/v1/jobs/{job_id}/comparison">;

interface CompareProps {
  readonly jobId: number;
  readonly runId: number;
  readonly attempt: number;
  readonly other: number;
}

/** Compares two attempts: first what is the same, then what differs. */
export function Compare({ jobId, runId, attempt, other }: CompareProps): ReactNode {
  const [shown, setShown] = useState("all");
  const { data, problem } = useLive(
    `compare ${jobId} ${attempt} ${other}`,
    () =>
      dataOf(
        api.GET("/api/v1/jobs/{job_id}/comparison", {
          params: { path: { job_id: String(jobId) }, query: { attempt, other } },
        }),
      ),
    (changed) => changed === runId,
  );
  if (data === null) return problem === null ? null : <Refused problem={problem} />;
  const names = ["all", "error", ...data.texts.map(({ name }) => name)];
  return (
    <div className="log compare">
      <div className="logtools">
        <span className="chip line">attempt {data.other}</span> with{" "}
        <span className="chip line">attempt {data.attempt}</span>
        <fieldset className="seg">
          <legend className="sr">What to compare</legend>
          {names.map((name) => (
            <button key={name} type="button" aria-pressed={shown === name} onClick={() => setShown(name)}>
              {name}
            </button>
          ))}
        </fieldset>
        <span className="grow" />
        <span className="small dim">times and ids count as the same, and are dotted</span>
      </div>
      <ScrollRegion className="scroll" label="Comparison">
        {shown === "all" && <Facts facts={data.facts} />}
        {(shown === "all" || shown === "error") && <Fields comparison={data} all={shown === "error"} />}
        {data.texts
          // Equal texts are already listed above.
          .filter(({ name, verdict }) => (shown === "all" ? verdict !== "same" : shown === name))
          .map((text) => (
            <Text key={text.name} text={text} comparison={data} />
          ))}
      </ScrollRegion>
    </div>
  );
}

function Facts({ facts }: { readonly facts: Comparison["facts"] }): ReactNode {
  return (
    <ul className="facts">
      {facts.map(({ about, verdict, words, detail }) => (
        <li key={about}>
          <span aria-hidden="true" className={verdict === "differs" ? "gold" : "ok"}>
            {verdict === "differs" ? "≠" : "="}
          </span>
          <b>{words}</b> <span className="dim">{detail}</span>
        </li>
      ))}
    </ul>
  );
}

function Fields({ comparison, all }: { readonly comparison: Comparison; readonly all: boolean }): ReactNode {
  const rows = comparison.fields.filter(({ same }) => all || !same);
  if (rows.length === 0) return null;
  return (
    <>
      <div className="sh">
        <b>error record</b> attempt {comparison.other} → attempt {comparison.attempt}
      </div>
      <table className="t fields">
        <thead>
          <tr>
            <th>field</th>
            <th>attempt {comparison.other}</th>
            <th>attempt {comparison.attempt}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, value, other, same }) => (
            <tr key={name} className={same ? "dim" : undefined}>
              <td>{name}</td>
              <td className="mono-s">{String(other)}</td>
              <td className="mono-s">{String(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Text({
  text,
  comparison,
}: {
  readonly text: Comparison["texts"][number];
  readonly comparison: Comparison;
}): ReactNode {
  const { name, verdict, lines, other_lines, whole, rows, left_off } = text;
  const words = { same: "the same, line for line", masked: "only times and ids differ", differs: "" }[
    verdict
  ];
  return (
    <>
      <div className="sh">
        <b>{name}</b> attempt {comparison.other} → attempt {comparison.attempt}
        <span className="dim">
          {lines === other_lines ? count(lines, "line") : `${other_lines} and ${lines} lines`}
          {words !== "" && `, ${words}`}
        </span>
        {!whole && <span className="end">only the last 128 KB of each</span>}
      </div>
      <DiffRows rows={rows} />
      {left_off > 0 && <p className="pad dim">and {left_off} more lines</p>}
    </>
  );
}
