/** The words of the engine begin small; alone they are a sentence. */
export function sentence(text: string): string {
  return text === "" ? "" : text[0]!.toUpperCase() + text.slice(1);
}
