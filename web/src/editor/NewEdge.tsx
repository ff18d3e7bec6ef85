import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Button } from "../parts/Button.js";
import { Icon } from "../parts/Icon.js";
import { type EdgeKeys, OUTCOMES, type Outcome } from "./Inspector.js";

interface NewEdgeProps {
  readonly steps: readonly string[];
  readonly onAdd: (keys: EdgeKeys) => void;
  /** Makes the second step wait for the first. */
  readonly onDepend: (from: string, to: string) => void;
  readonly onClose: () => void;
}

/** A form that adds an edge, for people who do not use a pointer. */
export function NewEdge({ steps, onAdd, onDepend, onClose }: NewEdgeProps): ReactNode {
  const id = useId();
  const [from, setFrom] = useState(steps[0] ?? "");
  const [to, setTo] = useState(steps[1] ?? "");
  const [on, setOn] = useState<Outcome | "depends">("failure");
  const why = from === to ? "An edge leads to another step" : null;
  const add = (event: FormEvent): void => {
    event.preventDefault();
    if (why !== null) return;
    if (on === "depends") onDepend(from, to);
    else onAdd({ from, to, on });
  };
  const choices = steps.map((step) => <option key={step}>{step}</option>);
  return (
    <aside className="insp" aria-label="New edge">
      <header className="row">
        <h2>New edge</h2>
        <button type="button" className="btn icon ghost end" aria-label="Close" onClick={onClose}>
          <Icon name="cross" small />
        </button>
      </header>
      <form className="inspbody" onSubmit={add}>
        <div className="field">
          <label htmlFor={`${id}f`}>From</label>
          <select
            id={`${id}f`}
            // biome-ignore lint/a11y/noAutofocus: who asked for it goes on here
            autoFocus
            className="input mono"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          >
            {choices}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}o`}>When it</label>
          <select
            id={`${id}o`}
            className="input"
            value={on}
            onChange={(event) => setOn(event.target.value as Outcome | "depends")}
          >
            {OUTCOMES.map(({ on: value, words }) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
            <option value="depends">is what the other waits for (depends_on)</option>
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}t`}>To</label>
          <select
            id={`${id}t`}
            className="input mono"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          >
            {choices}
          </select>
        </div>
        <div className="row">
          <Button why={why} look="first" submits>
            Add edge
          </Button>
        </div>
      </form>
    </aside>
  );
}
