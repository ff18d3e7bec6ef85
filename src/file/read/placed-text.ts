import type { Path } from "./path.js";
import { offsetBeforeFilling, type ParameterValues } from "./placeholders.js";
import type { InsideScalar } from "./problem.js";
import type { SourceScalar } from "./source-tree.js";

/** An expression or a template of a file. */
export interface PlacedText {
  readonly language: "expression" | "template";
  readonly text: string;
  readonly node: SourceScalar;
  readonly path: Path | null;
  /** Names that it may use beside those of every text. */
  readonly more?: readonly string[];
  /** A shell reads what it renders to. */
  readonly shell?: boolean;
  /** The job for which placeholders of the text were filled, and with what. */
  readonly filled?: { readonly job: string; readonly values: ParameterValues };
}

/** A text with its names, which are looked up once all steps are known. */
export interface TextWithNames extends PlacedText {
  readonly names: NamesInText;
}

export function placeInText({ node, filled }: PlacedText, offset: number): InsideScalar {
  const unfilled = typeof node.value === "string" ? node.value : node.written;
  return {
    scalar: node,
    offset: filled === undefined ? offset : offsetBeforeFilling(unfilled, filled.values, offset),
  };
}

/** A name, or one of the members after it, with its place in the text. */
export interface NamePart {
  readonly name: string;
  readonly at: number;
}

/** Something that a text reads and does not declare itself: `outputs.build.version`. */
export interface NameRead {
  /** The name and its members, up to the first that is computed. */
  readonly path: readonly NamePart[];
  /** The text itself looks if the second part is there: `?.`, `??`, `!`, `&&`, `default`, a condition of a template. */
  readonly asked: boolean;
}

/** What a template prints at one place. */
export interface Printed {
  readonly from: number;
  readonly to: number;
  readonly filters: readonly string[];
  /** All that it is made of, except names of the template's own that need no quoting any more. */
  readonly reads: readonly NameRead[];
}

export interface NamesInText {
  readonly reads: readonly NameRead[];
  /** Names that the text declares anywhere in it. Reads of them are left out, wherever they stand. */
  readonly declared: ReadonlySet<string>;
  /** More may be read than is written as a name: through `globalThis`, or by a filter that is handed an expression. */
  readonly hidden: boolean;
  /** The texts in an expression: those that are step ids may be where it leads. */
  readonly literals: readonly string[];
  readonly prints: readonly Printed[];
}

/** Looks into expressions and templates. Null where that is not possible; then nothing is said of their names. */
export interface NameFinder {
  /** What the language itself offers to expressions, each with its only members, or null for any. */
  readonly globals: ReadonlyMap<string, readonly string[] | null>;
  inExpression(code: string): NamesInText | null;
  inTemplate(text: string): NamesInText | null;
}
