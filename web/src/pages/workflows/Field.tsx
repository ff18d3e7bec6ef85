import { type ReactNode, useId } from "react";
import type { StartField } from "./start-fields.js";

const HINTS: { readonly [type in StartField["type"]]: string } = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  object: "a JSON object",
  array: "a JSON array",
  any: "text",
};

interface FieldProps {
  readonly field: StartField;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (text: string) => void;
}

/** One input: typed, or chosen; what is wrong with it stands below. */
export function Field({ field, value, error, onChange }: FieldProps): ReactNode {
  const id = useId();
  const { name, type, required, description, fallback, choices } = field;
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
            <option key={choice}>{choice}</option>
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
        {error ?? description ?? (choices === null ? HINTS[type] : "")}
      </p>
    </div>
  );
}
