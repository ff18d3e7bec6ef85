/** HTML that may be put into a page as it is. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | null | readonly Part[];

const ESCAPES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Names come from workflow files: what they hold is shown, never obeyed. Control characters are no text of a page. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!).replace(CONTROLS, "\ufffd");
}

/** Everything that is put in is escaped, but for markup. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const text = pieces.reduce((all, piece, at) => `${all}${textOf(parts[at - 1] ?? null)}${piece}`);
  return new Markup(text);
}

function textOf(part: Part): string {
  if (part === null) return "";
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(textOf).join("");
  return escaped(String(part));
}
