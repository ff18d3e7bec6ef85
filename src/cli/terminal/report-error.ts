import { DarumaError } from "../../core/errors/errors.js";
import { messageOf } from "../../core/text/message-of.js";
import type { Problem } from "../../file/read/problem.js";
import type { Paint } from "../render/paint.js";
import { type Session, writeJson, writeLines } from "./channel.js";

interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly problems?: readonly Problem[];
}

/** Reports an error: lines on stderr, or with --json one object on stdout. */
export function reportError(error: unknown, { out, err, options }: Session): void {
  const told = shownError(error);
  if (options.json) writeJson(out, { error: told });
  else writeLines(err, errorLines(told, err.paint));
  if (options.debug && error instanceof Error && error.stack !== undefined) {
    writeLines(
      err,
      causes(error).flatMap(({ stack, message }) => (stack ?? message).split("\n")),
    );
  }
}

function shownError(error: unknown): ShownError {
  const known = error instanceof DarumaError ? error : unexpected(error);
  const problems = "problems" in known ? (known.problems as readonly Problem[]) : undefined;
  return {
    code: known.code,
    message: known.message,
    hint: known.hint,
    ...known.details,
    ...(problems === undefined ? {} : { problems }),
  };
}

function unexpected(error: unknown): DarumaError {
  return new DarumaError("INTERNAL", messageOf(error));
}

function errorLines(told: ShownError, paint: Paint): string[] {
  if (told.problems !== undefined) return problemLines(told.problems, "error", paint);
  return [`${paint("red", `error ${told.code}`)}: ${told.message}`, `${paint("cyan", "hint")}: ${told.hint}`];
}

/** Formats problems as `file:line:column CODE message`, each with its hint, and their number. */
export function problemLines(
  problems: readonly Problem[],
  kind: "error" | "warning",
  paint: Paint,
): string[] {
  const colour = kind === "error" ? "red" : "yellow";
  const lines = problems.flatMap(({ file, line, column, code, message, hint }) => [
    `${file}:${line}:${column} ${paint(colour, code)} ${message}`,
    `  ${paint("cyan", "hint")}: ${hint}`,
  ]);
  return [...lines, `${problems.length} ${kind}${problems.length === 1 ? "" : "s"}`];
}

function causes(error: Error): Error[] {
  const chain: Error[] = [];
  for (let at: unknown = error; at instanceof Error && !chain.includes(at); at = at.cause) chain.push(at);
  return chain;
}
