/** A parsed address. It is behind the `#`, so it cannot collide with an address of the API. */
export interface Place {
  /** The parts of the path, decoded: `["runs", "12", "build"]`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

export function addressOf(
  path: readonly (string | number)[],
  query: { readonly [name: string]: string | null } = {},
): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== null && pair[1] !== "",
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.map((part) => encodeURIComponent(part)).join("/")}${search}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
