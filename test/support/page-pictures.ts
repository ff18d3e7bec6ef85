import type { Demo } from "./page-demo.js";

/** One page as it is shown in the documents. */
export interface Picture {
  /** The name of its files. */
  readonly name: string;
  /** Its address behind the `#/`. */
  readonly at: (demo: Demo) => string;
  /** A text that is there, at every width, once the page has its data. */
  readonly shows: string | RegExp;
}

/** Every page has its row here. */
export const PICTURES: readonly Picture[] = [
  { name: "inbox", at: () => "inbox", shows: /lock timeout/ },
  { name: "runs", at: () => "runs", shows: "release-train" },
  { name: "run", at: ({ mended }) => `runs/${mended}`, shows: "repaired by regenerate" },
  { name: "step", at: ({ held }) => `runs/${held}/migrate`, shows: "Error record" },
  {
    name: "step-compare",
    at: ({ held }) => `runs/${held}/migrate?tab=compare`,
    shows: "The failure is the same",
  },
  { name: "workflows", at: () => "workflows", shows: "nightly-etl" },
  { name: "editor", at: () => "workflows/release-train/edit", shows: "UNKNOWN_KEY" },
  { name: "start", at: () => "workflows/release-train/start", shows: "Labels" },
  { name: "schedules", at: () => "schedules", shows: "Europe/Berlin" },
  { name: "statistics", at: () => "statistics", shows: "Outcome of runs" },
  {
    name: "workers",
    at: () => "workers",
    shows: /^no connected worker has the tags|ready and has no worker/,
  },
  { name: "notifications", at: () => "notifications", shows: "delivered" },
  { name: "settings", at: () => "settings", shows: "Kept for ever." },
];
