import { type ReactNode, useId } from "react";
import { withMarks } from "../../words/unseen.js";
import { hintOf, type StartField } from "./start-fields.js";

interface FieldProps {
  readonly field: StartField;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (text: string) => void;
}

/** A field for one input, typed or chosen, with its error below. */
export function Field({ field, value, error, onChange }: FieldProps): ReactNode {
  const id = useId();
  const { name, type, required, choices } = field;
  const fallback = field.fallback === null ? null : withMarks(field.fallback);
  const shared = {
    id,
    value,
    "aria-invalid": error !== null,
    "aria-required": required,
    "aria-describedby": `${id}-told`,
    className: error === null ? "input" : "input wrong",
  };
  const isLong = type === "object" || type === "array";
  return (
    <div className="field">
      <label htmlFor={id} className="mono">
        {name}
        {required && <span className="dim small"> required</span>}
      </label>
      {choices !== null ? (
        <select {...shared} onChange={(event) => onChange(event.target.value)}>
          <option value="">
            {fallback === null ? (required ? "choose" : "none") : `${fallback} (default)`}
          </option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {withMarks(choice)}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea
          {...shared}
          rows={3}
          placeholder={fallback ?? ""}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input {...shared} placeholder={fallback ?? ""} onChange={(event) => onChange(event.target.value)} />
      )}
      <p id={`${id}-told`} className={error === null ? "small dim" : "small bad"}>
        {withMarks(error ?? hintOf(field))}
      </p>
    </div>
  );
}
