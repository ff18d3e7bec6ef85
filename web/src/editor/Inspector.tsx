import { type FormEvent, type ReactNode, useId } from "react";
import { Icon } from "../parts/Icon.js";
import { Condition } from "./Condition.js";
import type { SurveyEdge } from "./check.js";
import { formOf, writtenOf } from "./condition.js";
import { classOf } from "./graph-model.js";
import { useTyped } from "./use-typed.js";

export type Outcome = "success" | "failure" | "any";
export type RouteEnd = "skip" | "continue" | "fail";

/** The keys of a transition that an edit changes. */
export interface EdgeKeys {
  readonly from?: string;
  readonly to?: string;
  readonly on?: Outcome;
  readonly priority?: number | null;
  readonly when?: unknown;
  readonly then?: RouteEnd | null;
}

export const OUTCOMES: readonly { readonly on: Outcome; readonly words: string }[] = [
  { on: "success", words: "succeeds" },
  { on: "failure", words: "fails" },
  { on: "any", words: "either" },
];

const ENDS: readonly { readonly then: RouteEnd; readonly words: string }[] = [
  { then: "skip", words: "skips the rest" },
  { then: "continue", words: "goes on" },
  { then: "fail", words: "fails" },
];

interface EdgeProps {
  readonly edge: SurveyEdge;
  /** Another transition's step with the same priority. */
  readonly rival: string | null;
  readonly from: string;
  readonly to: string;
  /** Why nothing can be changed; null if it can. */
  readonly fixed: string | null;
  readonly onChange: (keys: EdgeKeys) => void;
  readonly onDelete: () => void;
  readonly onLines: () => void;
  readonly onClose: () => void;
}

/** Shows an edge: when it is taken, and for a transition its outcome, priority and condition. */
export function EdgeInspector({
  edge,
  rival,
  from,
  to,
  fixed,
  onChange,
  onDelete,
  onLines,
  onClose,
}: EdgeProps): ReactNode {
  const { kind, priority, when, taken, lines, transition, label } = edge;
  const on = kind.replace("transition_", "") as Outcome;
  const mayEdit = fixed === null && transition !== null;
  const mayDelete = fixed === null && (transition !== null || kind === "depends");
  return (
    <aside className="insp" aria-label="Edge">
      <header className="row">
        <svg className={`groute edgekind ${classOf(edge)}`} viewBox="0 0 22 8" aria-hidden="true">
          <path className="react-flow__edge-path" d="M0 4h22" />
        </svg>
        <h2 className="cut" title={`${from} → ${to}`}>
          {from} → {to}
        </h2>
        <button type="button" className="btn icon ghost end" aria-label="Close" onClick={onClose}>
          <Icon name="cross" small />
        </button>
      </header>
      <div className="inspbody">
        {transition === null ? (
          <p>{label ?? `${to} waits for ${from}`}</p>
        ) : (
          <>
            <Choice
              title={`When ${from}`}
              choices={OUTCOMES.map(({ on: value, words }) => ({ value, words }))}
              value={on}
              mayEdit={mayEdit}
              // `then` only applies to failures.
              onChange={(next) => onChange(next === "success" ? { on: next, then: null } : { on: next })}
            />
            {edge.then !== null && (
              <Choice
                title={`When ${to} completes, the run`}
                choices={ENDS.map(({ then, words }) => ({ value: then, words }))}
                value={edge.then}
                mayEdit={mayEdit}
                onChange={(then) => onChange({ then })}
              />
            )}
            <Priority value={priority} rival={rival} mayEdit={mayEdit} onChange={onChange} />
            <Condition
              form={formOf(when)}
              text={edge.condition}
              mayEdit={mayEdit}
              onChange={(form) => {
                const written = writtenOf(form);
                if (written !== undefined) onChange({ when: written });
              }}
            />
          </>
        )}
        {taken !== null && (
          <div className="preview">
            <b>When is it taken?</b>
            <span>{taken}</span>
          </div>
        )}
        {fixed !== null && <p className="small dim">{fixed}</p>}
        <div className="row">
          {lines !== null && (
            <button type="button" className="btn ghost" onClick={onLines}>
              {lines.first === lines.last ? `Line ${lines.first}` : `Lines ${lines.first} to ${lines.last}`}
            </button>
          )}
          {mayDelete && (
            <button type="button" className="btn danger end" onClick={onDelete}>
              Delete edge
            </button>
          )}
        </div>
      </div>
    </aside>
  );
}

interface ChoiceProps<T extends string> {
  readonly title: string;
  readonly choices: readonly { readonly value: T; readonly words: string }[];
  readonly value: T;
  readonly mayEdit: boolean;
  readonly onChange: (value: T) => void;
}

function Choice<T extends string>({ title, choices, value, mayEdit, onChange }: ChoiceProps<T>): ReactNode {
  return (
    <fieldset className="field">
      <legend className="cut" title={title}>
        {title}
      </legend>
      <div className="seg">
        {choices.map(({ value: each, words }) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === value}
            aria-disabled={!mayEdit}
            onClick={() => mayEdit && each !== value && onChange(each)}
          >
            {words}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

interface PriorityProps {
  readonly value: number | null;
  readonly rival: string | null;
  readonly mayEdit: boolean;
  readonly onChange: (keys: EdgeKeys) => void;
}

function Priority({ value, rival, mayEdit, onChange }: PriorityProps): ReactNode {
  const id = useId();
  const [typed, setTyped] = useTyped(String(value ?? ""));
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    if (typed === String(value ?? "") || !/^\d{0,9}$/.test(typed)) return;
    onChange({ priority: typed === "" ? null : Number(typed) });
  };
  return (
    <form className="field" onSubmit={send}>
      <label htmlFor={id}>Priority, lower is tried first</label>
      <input
        id={id}
        className={rival === null ? "input num short" : "input num short wrong"}
        aria-invalid={rival !== null}
        aria-describedby={rival === null ? undefined : `${id}-rival`}
        inputMode="numeric"
        value={typed}
        readOnly={!mayEdit}
        onChange={(event) => setTyped(event.target.value.replace(/\D/g, ""))}
        onBlur={() => send()}
      />
      {rival !== null && (
        <p id={`${id}-rival`} className="small bad">
          {rival} has {value} too. Give each its own.
        </p>
      )}
    </form>
  );
}
