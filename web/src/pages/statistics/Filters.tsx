import { type FormEvent, type ReactNode, useId } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { addressOf } from "../../place.js";
import { WINDOWS, type Window } from "../../words/statistics.js";

interface FiltersProps {
  readonly window: Window;
  readonly workflow: string | null;
  readonly label: string | null;
}

export function Filters({ window, workflow, label }: FiltersProps): ReactNode {
  const id = useId();
  const names = useWorkflows(workflow);
  const at = (changes: { readonly [name: string]: string | null }): string =>
    addressOf(["statistics"], { window: window.name, workflow, label, ...changes });
  const setLabel = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("label");
    location.hash = at({ label: String(text).trim() });
  };
  return (
    <div className="row wrap filters">
      <h2 className="big">Statistics</h2>
      <nav className="seg" aria-label="How far back">
        {WINDOWS.map(({ name, words }) => (
          <a key={name} href={at({ window: name })} aria-current={name === window.name ? "true" : undefined}>
            {words}
          </a>
        ))}
      </nav>
      <span className="row g3">
        <label className="small dim" htmlFor={`${id}-workflow`}>
          Workflow
        </label>
        <select
          id={`${id}-workflow`}
          className="input"
          value={workflow ?? ""}
          onChange={({ target }) => {
            location.hash = at({ workflow: target.value });
          }}
        >
          <option value="">all</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </span>
      <form className="row g3" onSubmit={setLabel}>
        <label className="small dim" htmlFor={`${id}-label`}>
          Label
        </label>
        <input
          key={label}
          id={`${id}-label`}
          name="label"
          className="input"
          defaultValue={label ?? ""}
          placeholder="team=core"
        />
      </form>
      {(workflow !== null || label !== null) && (
        <a className="link small" href={at({ workflow: null, label: null })}>
          Clear the filters
        </a>
      )}
    </div>
  );
}

function useWorkflows(chosen: string | null): string[] {
  const { data } = useLive(
    "workflows",
    () => dataOf(api.GET("/api/v1/workflows", { params: { query: { limit: 200 } } })),
    () => false,
  );
  const names = new Set((data?.items ?? []).map(({ name }) => name));
  if (chosen !== null) names.add(chosen);
  return [...names].sort();
}
