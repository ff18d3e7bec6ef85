/** The words of the engine begin small; alone they are a sentence. */
export function sentence(text: string): string {
  return text === "" ? "" : text[0]!.toUpperCase() + text.slice(1);
}

/** A reason that begins with the code of its failure, where the code stands beside it already. */
export function withoutCode(reason: string, code: string | undefined): string {
  if (code === undefined || !reason.startsWith(code)) return reason;
  return reason.slice(code.length).replace(/^(?: \([a-z_]+\))?: /, "") || reason;
}
