import type { ReactNode } from "react";
import { Segments } from "../../log/LogLine.js";
import { segmentsOf } from "../../log/shown-text.js";
import type { AnswerOf } from "../../words/status.js";

type Row = AnswerOf<"/api/v1/jobs/{job_id}/comparison">["texts"][number]["rows"][number];

/** The difference of two texts, line by line. Masked parts are dotted, not coloured. */
export function DiffRows({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  return (
    <div className="diff">
      {rows.map((row, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is what stands at its place
        <DiffRow key={place} row={row} />
      ))}
    </div>
  );
}

function DiffRow({ row }: { readonly row: Row }): ReactNode {
  switch (row.kind) {
    case "skipped":
      return (
        <Line look="h">
          {row.count === 1 ? "1 line the same" : `${row.count.toLocaleString("en")} lines the same`}
        </Line>
      );
    case "removed":
      return (
        <Line look="d" before={row.other_line} sign="-">
          <Text text={row.text} />
        </Line>
      );
    case "added":
      return (
        <Line look="a" after={row.line} sign="+">
          <Text text={row.text} />
        </Line>
      );
    case "same":
      return (
        <Line before={row.other_line} after={row.line}>
          <Text text={row.text} />
        </Line>
      );
    case "masked":
      return (
        <Line before={row.other_line} after={row.line}>
          {row.parts.map(({ text, other }, place) =>
            other === undefined ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a part is what stands at its place
              <Text key={place} text={text} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a part is what stands at its place
              <span className="masked" key={place}>
                {other} → {text}
              </span>
            ),
          )}
        </Line>
      );
  }
}

function Text({ text }: { readonly text: string }): ReactNode {
  return <Segments segments={segmentsOf(text)} />;
}

interface LineProps {
  readonly look?: "a" | "d" | "h";
  readonly before?: number;
  readonly after?: number;
  readonly sign?: "+" | "-";
  readonly children: ReactNode;
}

function Line({ look, before, after, sign, children }: LineProps): ReactNode {
  return (
    <div className={`ln ${look ?? ""}`}>
      <i>{before}</i>
      <i>{after}</i>
      <span>{sign}</span>
      <span dir="ltr">{children}</span>
    </div>
  );
}
