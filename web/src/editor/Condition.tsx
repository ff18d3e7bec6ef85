import { type FocusEvent, type FormEvent, type ReactNode, useId } from "react";
import { type ConditionForm, OPERATORS } from "./condition.js";
import { useTyped } from "./use-typed.js";

/** What people ask of a failure. */
const FIELDS = ["error.class", "error.code", "error.exit_code", "error.message", "error.attempts"];

interface ConditionProps {
  readonly form: ConditionForm;
  /** The condition as a person would write it. */
  readonly text: string | null;
  readonly mayEdit: boolean;
  readonly onChange: (form: ConditionForm) => void;
}

/** Written into the text when the field is left or Enter is pressed. */
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
  const choose = (next: ConditionForm): void => {
    setForm(next);
    if (next.kind === "none") onChange(next);
  };
  if (!mayEdit || form.kind === "other")
    return (
      <div className="field">
        <span>Only if</span>
        <code className="mono-s wrapped">{text ?? "no condition"}</code>
        {mayEdit && <p className="small dim">Change this condition in the text.</p>}
      </div>
    );
  return (
    <form className="field" onSubmit={send} onBlur={leave}>
      <span id={id}>Only if</span>
      {form.kind === "none" && <p className="small dim">always, no condition</p>}
      {form.kind === "comparison" && (
        <div className="compared">
          <input
            className="input mono-s"
            aria-label="Field"
            list={`${id}-fields`}
            value={form.field}
            onChange={(event) => setForm({ ...form, field: event.target.value })}
          />
          <datalist id={`${id}-fields`}>
            {FIELDS.map((field) => (
              <option key={field} value={field} />
            ))}
          </datalist>
          <select
            className="input mono-s"
            aria-label="Operator"
            value={form.operator}
            onChange={(event) => setForm({ ...form, operator: event.target.value })}
          >
            {OPERATORS.map((operator) => (
              <option key={operator}>{operator}</option>
            ))}
          </select>
          <input
            className="input mono-s"
            aria-label="Value"
            value={form.value}
            onChange={(event) => setForm({ ...form, value: event.target.value })}
          />
        </div>
      )}
      {form.kind === "code" && (
        <textarea
          className="input mono-s"
          aria-label="JavaScript"
          rows={3}
          value={form.code}
          onChange={(event) => setForm({ ...form, code: event.target.value })}
        />
      )}
      <div className="row small">
        {form.kind !== "none" && (
          <button type="submit" className="btn small-btn">
            Apply
          </button>
        )}
        {form.kind !== "comparison" && (
          <button
            type="button"
            className="link plain"
            onClick={() => choose({ kind: "comparison", field: "error.class", operator: "==", value: "" })}
          >
            compare a field
          </button>
        )}
        {form.kind !== "code" && (
          <button type="button" className="link plain" onClick={() => choose({ kind: "code", code: "" })}>
            write JavaScript
          </button>
        )}
        {form.kind !== "none" && (
          <button type="button" className="link plain end" onClick={() => choose({ kind: "none" })}>
            no condition
          </button>
        )}
      </div>
    </form>
  );
}
