/** `fact`: what happened. `why`: what was considered, what a failure means. `cost`: what it took from which budget. */
export type SentenceKind = "fact" | "why" | "cost";

/** A sentence of a story. The brief story has the facts alone. */
export interface Sentence {
  readonly kind: SentenceKind;
  readonly text: string;
}

export function fact(text: string): Sentence {
  return { kind: "fact", text };
}

export function why(text: string): Sentence {
  return { kind: "why", text };
}

/** `cost("loop 1 of 10")` is the sentence "Cost: loop 1 of 10." */
export function cost(text: string): Sentence {
  return { kind: "cost", text: `Cost: ${text}.` };
}

export function isFact({ kind }: Sentence): boolean {
  return kind === "fact";
}

export function textOf({ text }: Sentence): string {
  return text;
}

/** A text with a capital letter, for the beginning of a sentence. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
