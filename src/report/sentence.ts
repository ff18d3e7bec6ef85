/** A sentence of a story. Details say why, and at what cost; the brief story leaves them out. */
export type Sentence = string | Detail;

interface Detail {
  readonly detail: string;
}

export function detail(text: string): Detail {
  return { detail: text };
}

export function isDetail(sentence: Sentence): sentence is Detail {
  return typeof sentence !== "string";
}

export function textOf(sentence: Sentence): string {
  return isDetail(sentence) ? sentence.detail : sentence;
}
