import type { ResourceRequirements } from "../../core/model/definition.js";
import { MAX_DURATION_MS, parseDuration, parseMemorySize } from "../read/amounts.js";
import { namedListOf } from "../read/named-list.js";
import type { Path } from "../read/path.js";
import {
  type Fields,
  type Located,
  located,
  mapped,
  named,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
  union,
} from "../read/schema.js";
import { number, text } from "../read/schema-scalars.js";
import type { SourceScalar } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";

const MAX_NAME_CHARS = 200;
const MAX_CPUS = 1_000_000;
const MAX_GPUS = 1_000;
const MAX_NODES = 100_000;
const DEFAULT_CPUS = 1;

/** What a step says it needs: written out, or the name of an entry of the file's list. */
export type ResourceDraft =
  | { readonly kind: "inline"; readonly value: ResourceRequirements }
  | { readonly kind: "named"; readonly name: Located<string> };

export interface NamedResources {
  readonly name: Located<string> | undefined;
  readonly value: ResourceRequirements;
}

type Report = (message: string, hint: string) => void;

/** Text that is read into another value; `parse` reports why it cannot be. */
function parsedText(
  expected: string,
  parse: (written: string, report: Report) => number | null,
): Schema<number, string> {
  const read = (written: string, node: SourceScalar, path: Path | null, context: ReadContext) =>
    parse(written, (message, hint) =>
      context.findings.error({ code: "INVALID_VALUE", message, hint, at: node.at, path }),
    );
  // The check reports; the value is parsed again, which is cheaper than a second channel for it.
  return mapped(text({ expected, check: read }), (written) => parse(written, () => {}) ?? 0);
}

export const memory = union(
  number({ min: 1, max: Number.MAX_SAFE_INTEGER, whole: true }),
  parsedText("a size such as `512m` or `2g`", (written, report) => {
    const bytes = parseMemorySize(written);
    if (bytes !== null && bytes > 0) return bytes;
    report(`${quote(written)} is not a size`, "Write a size such as 512m, 2g or 2GiB, or bytes as a number.");
    return null;
  }),
);

export const runtime = parsedText("a duration such as `PT30M` or `30m`", (written, report) => {
  const ms = parseDuration(written);
  if (ms !== null && ms > 0 && ms <= MAX_DURATION_MS) return ms;
  const hint = "Write a duration such as PT30M or 30m, at most 24.8 days.";
  report(`${quote(written)} is not a supported duration`, hint);
  return null;
});

const resourceFields = {
  num_cpus: {
    schema: number({ min: 1, max: MAX_CPUS, whole: true }),
    doc: "Processors that the step takes.",
    default: DEFAULT_CPUS,
  },
  memory: {
    schema: memory,
    doc: "Memory that the step may use, as `512m`, `2g` or bytes; an attempt that uses more is ended.",
  },
  runtime: { schema: runtime, doc: "Time that an attempt may take, as `PT30M` or `30m`." },
  num_gpus: {
    schema: number({ min: 0, max: MAX_GPUS, whole: true }),
    doc: "Graphics processors that the step has to itself; `CUDA_VISIBLE_DEVICES` names them.",
    default: 0,
  },
  num_nodes: {
    schema: number({ min: 1, max: MAX_NODES, whole: true }),
    doc: "Machines at once. More than one has only a cluster's allocation that was made for the step, which starts its processes there itself.",
    default: 1,
  },
} as const satisfies Fields;

function toRequirements(given: ReadOf<typeof resourceFields>): ResourceRequirements {
  return {
    cpus: given.num_cpus ?? DEFAULT_CPUS,
    memoryBytes: given.memory ?? null,
    runtimeMs: given.runtime ?? null,
    ...((given.num_gpus ?? 0) === 0 ? {} : { gpus: given.num_gpus! }),
    ...((given.num_nodes ?? 1) === 1 ? {} : { nodes: given.num_nodes! }),
  };
}

const inlineResources = mapped(
  object(resourceFields),
  (given): ResourceDraft => ({
    kind: "inline",
    value: toRequirements(given),
  }),
);
const nameOfResources = mapped(
  located(text({ expected: "the name of an entry of `resource_requirements`", maxChars: MAX_NAME_CHARS })),
  (name): ResourceDraft => ({ kind: "named", name }),
);

export const resources = named("resource_requirements", union(nameOfResources, inlineResources));

const namedResources = mapped(
  object({
    name: {
      schema: located(text({ asWritten: true, maxChars: MAX_NAME_CHARS })),
      doc: "The name by which jobs and steps refer to it.",
      required: true,
    },
    ...resourceFields,
  }),
  (given): NamedResources => ({ name: given.name, value: toRequirements(given) }),
);

export const resourceList = namedListOf(namedResources, "resource requirements");
