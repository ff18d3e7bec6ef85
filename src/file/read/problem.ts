import { ERROR_CATALOGUE, type ErrorCode } from "../../core/errors/errors.js";
import { noted, number, type OfFields, object, optional, text, word } from "../../core/text/shape.js";
import { FIX, type Mending } from "./fix.js";
import { type Path, renderPath } from "./path.js";
import type { SourceScalar } from "./source-tree.js";
import { Suggester } from "./suggest.js";

/** What is wrong with an expression or template; line and column count from 1 within its own text. */
export interface SyntaxProblem {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** One thing wrong with a workflow file, and where. */
export const PROBLEM = {
  code: word<ErrorCode>(),
  message: text,
  hint: text,
  file: text,
  line: number,
  column: number,
  /** `steps.build.on_fail.goto` */
  path: text,
  fix: optional(
    noted(
      object(FIX),
      "Puts `text` in place of what is there; columns count UTF-16 units from 1, the end is left out.",
    ),
  ),
} as const;
export type Problem = OfFields<typeof PROBLEM>;

/** A problem whose offset is not yet a line and column. */
export interface Finding {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly at: number;
  readonly path: string;
  /** A place within the text of a scalar, such as a name in an expression. */
  readonly inside: InsideScalar | null;
  readonly mending?: Mending | undefined;
}

export interface InsideScalar {
  readonly scalar: SourceScalar;
  /** The offset of a character within its value. */
  readonly offset: number;
}

export interface Report {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly at: number;
  readonly path: Path | null;
  readonly inside?: InsideScalar | null;
  readonly mending?: Mending | undefined;
}

/** An alias may stand for thousands of values, and the first problems at one place suffice. */
const MAX_ALIKE_AT_ONE_PLACE = 10;

/** Collects everything found in one load. The same text at the same place (an alias used twice) is reported once. */
export class Findings {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];
  readonly suggester = new Suggester();
  private readonly seen = new Set<string>();
  private readonly alike = new Map<string, number>();
  private maxAlike = MAX_ALIKE_AT_ONE_PLACE;

  /** From here on one place stands for a whole sweep of jobs, in each of which its mistake would be found again. */
  tellOncePerPlace(): void {
    this.maxAlike = 1;
  }

  /** Answers nothing, in a form that a reader can hand on as its result. */
  error(report: Report): undefined {
    this.add(this.errors, report);
  }

  warn(report: Report): void {
    this.add(this.warnings, report);
  }

  private add(list: Finding[], { code, message, hint, at, path, inside = null, mending }: Report): void {
    const rendered = renderPath(path);
    const place = at < 0 ? rendered : `${at} ${inside?.offset ?? ""}`;
    const identity = `${code} ${place} ${message}`;
    if (this.seen.has(identity)) return;
    this.seen.add(identity);
    const count = (this.alike.get(`${code} ${place}`) ?? 0) + 1;
    this.alike.set(`${code} ${place}`, count);
    if (count > this.maxAlike) return;
    const told = hint ?? ERROR_CATALOGUE[code].next;
    list.push({ code, message, hint: told, at, path: rendered, inside, mending });
  }
}
