/** One row of docs/coverage.md. */
export interface CoverageRow {
  readonly id: string;
  readonly where: readonly string[];
  readonly tests: readonly string[];
  readonly state: string;
}

export function readCoverage(document: string): CoverageRow[] {
  return [...document.matchAll(/^\| ([A-Z]\d+) \|(.*)\|$/gm)].map((match) => {
    const cells = (match[2] ?? "").split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [, where = "", tests = "", state = ""] = cells;
    return { id: match[1] ?? "", where: quotedNames(where), tests: quotedNames(tests), state };
  });
}

function quotedNames(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
}
