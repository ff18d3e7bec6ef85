/** One code of the catalogue in `errors.ts`. */
export interface CatalogueEntry {
  readonly means: string;
  readonly next: string;
  /** In place of `next`, over REST and MCP. */
  readonly asked?: string;
}
