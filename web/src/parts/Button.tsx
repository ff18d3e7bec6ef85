import { type ReactNode, useId } from "react";

interface ButtonProps {
  /** Why it cannot be used now; null if it can. */
  readonly why: string | null;
  readonly look?: "plain" | "first" | "danger" | "quiet" | "small";
  /** Submits the form around it, which checks `why` itself. */
  readonly submits?: boolean;
  /** The tooltip, for places where the text may be hidden. */
  readonly title?: string;
  readonly onPress?: () => void;
  readonly children: ReactNode;
}

const LOOKS = {
  plain: "btn",
  first: "btn pri",
  danger: "btn danger",
  quiet: "btn ghost",
  small: "btn small-btn",
} as const;

/** A button. While it cannot be used it keeps its place, stays focusable and says why. */
export function Button({
  why,
  look = "plain",
  submits = false,
  title,
  onPress,
  children,
}: ButtonProps): ReactNode {
  const id = useId();
  return (
    <span className="tip">
      <button
        type={submits ? "submit" : "button"}
        className={LOOKS[look]}
        aria-disabled={why !== null}
        aria-describedby={why === null ? undefined : id}
        title={title}
        onClick={(event) => {
          if (why !== null) event.preventDefault();
          else onPress?.();
        }}
      >
        {children}
      </button>
      {why !== null && (
        <span id={id} className="why" role="tooltip">
          {why}
        </span>
      )}
    </span>
  );
}
