import type { Scale } from "../../core/model/definition.js";
import { RESOURCES, type Resource } from "../../core/model/resources.js";
import { childPath, type Path } from "../read/path.js";
import { object, type ReadContext, type Schema, type Written } from "../read/schema.js";
import { number } from "../read/schema-scalars.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { memory, runtime } from "./resource-fields.js";

const factor = number({ min: 1.01, max: 100, whole: false });

const scaleMap = object({
  memory: {
    schema: factor,
    doc: "After OOM the memory of the job is multiplied by this and rounded up to a MiB.",
  },
  max_memory: { schema: memory, doc: "Memory is never raised beyond this." },
  runtime: {
    schema: factor,
    doc: "After WALLTIME the runtime of the job is multiplied by this and rounded up to a minute.",
  },
  max_runtime: { schema: runtime, doc: "The runtime is never raised beyond this." },
});

/** A limit alone raises nothing, and is more likely half of what was meant. */
export const scale: Schema<Scale, Written<typeof scaleMap>> = {
  ...scaleMap,
  read(node, path, context) {
    const given = scaleMap.read(node, path, context);
    if (given === undefined || node.kind !== "map") return undefined;
    for (const resource of RESOURCES) checkLimit(node, resource, path, context);
    if (node.entries.length === 0) {
      const message = "`scale` raises nothing";
      const hint = "Add `memory: 1.5`, `runtime: 1.4`, or both.";
      context.findings.error({ code: "MISSING_KEY", message, hint, at: node.at, path });
    }
    return {
      ...(given.memory === undefined
        ? {}
        : { memory: { factor: given.memory, max: given.max_memory ?? null } }),
      ...(given.runtime === undefined
        ? {}
        : { runtime: { factor: given.runtime, max: given.max_runtime ?? null } }),
    };
  },
  json: (definitions) => ({
    ...scaleMap.json(definitions),
    anyOf: [{ required: ["memory"] }, { required: ["runtime"] }],
    dependentRequired: { max_memory: ["memory"], max_runtime: ["runtime"] },
  }),
};

function checkLimit(node: SourceMap, resource: Resource, path: Path | null, context: ReadContext): void {
  const limit = findEntry(node, `max_${resource}`);
  if (limit === undefined || findEntry(node, resource) !== undefined) return;
  const message = `\`max_${resource}\` limits nothing: \`${resource}\` is not raised`;
  const hint = `Add \`${resource}: ${resource === "memory" ? 1.5 : 1.4}\`, or remove the limit.`;
  context.findings.error({
    code: "MISSING_KEY",
    message,
    hint,
    at: limit.keyAt,
    path: childPath(path, limit.key),
  });
}
