import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { repositoryRoot } from "./repository-root.js";

/** What a real cluster said, by `CASE/WHEN.COMMAND`: see test/fixtures/cluster/README.md. */
export function readSamples(engine: "slurm" | "gridengine"): ReadonlyMap<string, string> {
  const packed = readFileSync(join(repositoryRoot, "test/fixtures/cluster", `${engine}.json.gz`));
  return new Map(Object.entries(JSON.parse(gunzipSync(packed).toString("utf8")) as Record<string, string>));
}
