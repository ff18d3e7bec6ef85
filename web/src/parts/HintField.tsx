import { type ReactNode, useId } from "react";

/** What the server takes. It refuses a longer one, which is better than to cut a sentence off. */
const MAX_CHARS = 4_000;

interface HintProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** What a person tells the step that is to work again. */
export function HintField({ value, onChange }: HintProps): ReactNode {
  const field = useId();
  const isTooLong = value.length > MAX_CHARS;
  return (
    <label className="field" htmlFor={field}>
      <span className="small dim">Hint</span>
      <textarea
        id={field}
        className="input grow"
        rows={2}
        value={value}
        placeholder="for the step: what to do differently"
        aria-invalid={isTooLong}
        onChange={(event) => onChange(event.target.value)}
      />
      {isTooLong && (
        <span className="small bad" role="alert">
          {value.length.toLocaleString("en")} characters; a hint has at most {MAX_CHARS.toLocaleString("en")}
        </span>
      )}
    </label>
  );
}
