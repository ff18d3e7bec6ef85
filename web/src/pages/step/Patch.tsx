import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Refused } from "../../parts/Notice.js";
import { TextPane } from "./TextPane.js";

const LOOKS: { readonly [sign: string]: string } = { "+": "added", "-": "removed", "@": "dim" };

/** The changes of an attempt or a checkpoint. */
export function Patch({ runId, name }: { readonly runId: number; readonly name: string }): ReactNode {
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
