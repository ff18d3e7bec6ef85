import type { NamesInText } from "./names-in-text.js";
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
