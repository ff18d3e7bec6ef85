/** How much of too large headers is examined. */
const MAX_LOOKED_AT_CHARS = 64 * 1024;
const MAX_NAMED_COOKIES = 20;
const COOKIE_NAME = /^[\w.-]{1,60}$/;

interface Cookie {
  readonly name: string;
  readonly chars: number;
}

/**
 * A page for a person whose browser sends more headers than the server reads, nearly always because of cookies that
 * another server on this host has set. Null if a program asks.
 */
export function largeHeadersPage(head: Buffer | undefined): string | null {
  const text = head?.toString("latin1", 0, MAX_LOOKED_AT_CHARS) ?? "";
  if (!/^accept:.*\btext\/html\b/im.test(text)) return null;
  const cookies = largestCookies(/^cookie:\s*(.*)$/im.exec(text)?.[1] ?? "");
  const list = cookies
    .map(({ name, chars }) => `<li><code>${name}</code>, ${chars} characters</li>`)
    .join("");
  const which = list === "" ? "" : `<p>The largest of them:</p><ul>${list}</ul>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Too many cookies</title></head>
<body><h1>Your browser sends too many cookies</h1>
<p>Another server at this host, perhaps on another port, has set cookies that are too large for Daruma to read, so that
no request of yours gets through. Clear the cookies of this host in your browser's settings, and sign in again.</p>
${which}</body></html>
`;
}

/** Only names of letters, digits, `_`, `.` and `-`. The page shows nothing else from the request. */
function largestCookies(header: string): Cookie[] {
  return header
    .split(";")
    .map((pair) => ({ name: pair.split("=", 1)[0]!.trim(), chars: pair.trim().length }))
    .filter(({ name }) => COOKIE_NAME.test(name))
    .sort((one, other) => other.chars - one.chars)
    .slice(0, MAX_NAMED_COOKIES);
}
