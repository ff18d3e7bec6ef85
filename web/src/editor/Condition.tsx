import { type FocusEvent, type FormEvent, type ReactNode, useId } from "react";
import { Button } from "../parts/Button.js";
import {
  type ConditionForm,
  type ConditionPart,
  joined,
  NEW_COMPARISON,
  negated,
  OPERATORS,
  withoutPart,
  writtenOf,
} from "./condition.js";
import { useTyped } from "./use-typed.js";

/** The fields of a failure that people use most in conditions. */
const FIELDS = ["error.class", "error.code", "error.exit_code", "error.message", "error.attempts"];

interface ConditionProps {
  readonly form: ConditionForm;
  /** The condition as text. */
  readonly text: string | null;
  readonly mayEdit: boolean;
  readonly onChange: (form: ConditionForm) => void;
}

/** Written into the text when the field loses focus or Enter is pressed. */
export function Condition({ form: first, text, mayEdit, onChange }: ConditionProps): ReactNode {
  const [form, setForm] = useTyped(first);
  const id = useId();
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    if (JSON.stringify(form) !== JSON.stringify(first)) onChange(form);
  };
  const leave = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    if (!currentTarget.contains(relatedTarget)) send();
  };
  if (!mayEdit)
    return (
      <div className="field">
        <span>Only if</span>
        <code className="mono-s wrapped">{text ?? "no condition"}</code>
      </div>
    );
  return (
    <form className="field" onSubmit={send} onBlur={leave}>
      <span id={id}>Only if</span>
      {form.kind === "none" ? (
        <p className="small dim">always, no condition</p>
      ) : (
        <Part form={form} fields={`${id}-fields`} onChange={setForm} />
      )}
      <datalist id={`${id}-fields`}>
        {FIELDS.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <div className="row small wrap">
        {form.kind !== "none" && (
          <Button
            why={writtenOf(form) === undefined ? "Fill in every field first" : null}
            look="small"
            submits
          >
            Apply
          </Button>
        )}
        {form.kind !== "comparison" && form.kind !== "and" && form.kind !== "or" && (
          <Choice words="compare a field" onClick={() => setForm(NEW_COMPARISON)} />
        )}
        {(form.kind === "none" || form.kind === "comparison") && (
          <Choice words="write JavaScript" onClick={() => setForm({ kind: "code", code: "" })} />
        )}
        {form.kind !== "none" && <Ways form={form} onChange={setForm} />}
        {form.kind !== "none" && (
          <button type="button" className="link plain end" onClick={() => onChange({ kind: "none" })}>
            no condition
          </button>
        )}
      </div>
    </form>
  );
}

function Choice({ words, onClick }: { readonly words: string; readonly onClick: () => void }): ReactNode {
  return (
    <button type="button" className="link plain" onClick={onClick}>
      {words}
    </button>
  );
}

interface PartProps {
  readonly form: ConditionPart;
  /** The id of the list of fields to choose from. */
  readonly fields: string;
  readonly onChange: (form: ConditionPart) => void;
}

/** Buttons that turn a condition into a larger one: AND, OR, NOT. */
function Ways({ form, onChange }: Omit<PartProps, "fields">): ReactNode {
  return (
    <>
      <Choice words="and" onClick={() => onChange(joined(form, "and"))} />
      <Choice words="or" onClick={() => onChange(joined(form, "or"))} />
      <Choice words={form.kind === "not" ? "without not" : "not"} onClick={() => onChange(negated(form))} />
    </>
  );
}

function Part({ form, fields, onChange }: PartProps): ReactNode {
  switch (form.kind) {
    case "comparison":
      return (
        <div className="compared">
          <input
            className="input mono-s"
            aria-label="Field"
            list={fields}
            value={form.field}
            onChange={(event) => onChange({ ...form, field: event.target.value })}
          />
          <select
            className="input mono-s"
            aria-label="Operator"
            value={form.operator}
            onChange={(event) => onChange({ ...form, operator: event.target.value })}
          >
            {OPERATORS.map((operator) => (
              <option key={operator}>{operator}</option>
            ))}
          </select>
          <input
            className="input mono-s"
            aria-label="Value"
            value={form.value}
            onChange={(event) => onChange({ ...form, value: event.target.value })}
          />
        </div>
      );
    case "code":
      return (
        <textarea
          className="input mono-s"
          aria-label="JavaScript"
          rows={3}
          value={form.code}
          onChange={(event) => onChange({ ...form, code: event.target.value })}
        />
      );
    case "kept":
      return <code className="mono-s wrapped">{form.words}</code>;
    case "not":
      return (
        <fieldset className="condgroup">
          <legend className="small dim">not</legend>
          <Part form={form.part} fields={fields} onChange={(part) => onChange({ kind: "not", part })} />
        </fieldset>
      );
    case "and":
    case "or":
      return <Group form={form} fields={fields} onChange={onChange} />;
    default:
      return form satisfies never;
  }
}

type GroupForm = Extract<ConditionPart, { kind: "and" | "or" }>;

function Group({ form, fields, onChange }: PartProps & { readonly form: GroupForm }): ReactNode {
  const { kind, parts } = form;
  const change = (place: number, part: ConditionPart): void =>
    onChange({ kind, parts: parts.map((each, at) => (at === place ? part : each)) });
  return (
    <fieldset className="condgroup">
      <legend className="small dim">{kind === "and" ? "all of these" : "any of these"}</legend>
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is what stands at its place
        <div key={place} className="condpart">
          <Part form={part} fields={fields} onChange={(next) => change(place, next)} />
          <div className="row small">
            <Ways form={part} onChange={(next) => change(place, next)} />
            <span className="end" />
            <Choice words="remove" onClick={() => onChange(withoutPart(form, place))} />
          </div>
        </div>
      ))}
    </fieldset>
  );
}
