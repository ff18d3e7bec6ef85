import type { Definition } from "../../core/model/definition.js";
import { type DrawnEdge, type DrawnNode, draw, STATUS_COLOURS, type StepStatuses } from "./drawing.js";

const MERMAID_SHAPES: Readonly<Record<DrawnNode["shape"], readonly [string, string]>> = {
  step: ["[", "]"],
  routed: ["(", ")"],
  for_each: ["[/", "\\]"],
  reduce: ["[\\", "/]"],
  or: ["{", "}"],
};
const DOT_SHAPES: Readonly<Record<DrawnNode["shape"], string>> = {
  step: "shape=box",
  routed: 'shape=box style="rounded,dashed"',
  for_each: "shape=trapezium",
  reduce: "shape=invtrapezium",
  or: "shape=diamond",
};

/** Mermaid: dependencies solid, failures dashed and red (green where the rest goes on, bold where the run fails all the same), on_success dotted and green, undo dotted and violet; transitions on success bold. */
export function toMermaid(definition: Definition, statuses?: StepStatuses): string {
  const { nodes, edges } = draw(definition, statuses);
  const lines = ["flowchart TD"];
  for (const { name, label, shape, status } of nodes) {
    const [open, close] = MERMAID_SHAPES[shape];
    lines.push(`  ${name}${open}"${escapeMermaid(label)}"${close}`);
    if (status !== null) lines.push(`  style ${name} fill:${STATUS_COLOURS[status]},color:#111827`);
  }
  const styles: string[] = [];
  edges.forEach((edge, index) => {
    lines.push(`  ${edge.from} ${mermaidArrow(edge)} ${edge.to}`);
    if (edge.kind !== "depends") styles.push(`  linkStyle ${index} ${mermaidLink(edge.kind, edge.then)}`);
  });
  return `${[...lines, ...styles].join("\n")}\n`;
}

const MERMAID_LINKS = {
  on_fail: "stroke:#dc2626,stroke-dasharray:6 4",
  on_success: "stroke:#16a34a,stroke-dasharray:1 3",
  undo: "stroke:#7c3aed,stroke-dasharray:1 3",
  transition_success: "stroke:#16a34a,stroke-width:3px",
  transition_failure: "stroke:#dc2626,stroke-dasharray:6 4",
  transition_any: "stroke:#6b7280,stroke-dasharray:6 4",
} as const;

/** What becomes of a failure, apart from the usual: that the steps behind it are skipped. */
const MERMAID_ENDS = {
  continue: "stroke:#16a34a,stroke-dasharray:6 4",
  fail: "stroke:#dc2626,stroke-width:3px,stroke-dasharray:6 4",
} as const;

function mermaidLink(kind: keyof typeof MERMAID_LINKS, then: DrawnEdge["then"]): string {
  return then === "continue" || then === "fail" ? MERMAID_ENDS[then] : MERMAID_LINKS[kind];
}

const DOT_ENDS = {
  continue: 'style=dashed color="#16a34a"',
  fail: 'style="dashed,bold" color="#dc2626"',
} as const;

const DOT_LINKS = {
  on_fail: 'style=dashed color="#dc2626"',
  on_success: 'style=dotted color="#16a34a"',
  undo: 'style=dotted color="#7c3aed"',
  transition_success: 'style=bold color="#16a34a"',
  transition_failure: 'style=dashed color="#dc2626"',
  transition_any: 'style=dashed color="#6b7280"',
} as const;

function mermaidArrow({ kind, label }: DrawnEdge): string {
  if (kind === "depends") return "-->";
  const arrow = kind === "transition_success" ? "==>" : "-.->";
  return `${arrow}|"${escapeMermaid(label ?? "")}"|`;
}

/** Mermaid knows entities, not backslashes; whatever could end a label or begin markup becomes one. */
function escapeMermaid(label: string): string {
  return label
    .split("\n")
    .map((line) => line.replace(/[^A-Za-z0-9 _.,:-]/g, (character) => `#${character.codePointAt(0)};`))
    .join("<br/>");
}

/** Graphviz: dependencies solid, failures dashed and red, on_success and undo dotted; transitions on success bold. */
export function toDot(definition: Definition, statuses?: StepStatuses): string {
  const { nodes, edges } = draw(definition, statuses);
  const lines = [
    `digraph ${quoteDot(definition.name)} {`,
    "  rankdir=TB;",
    '  node [fontname="sans-serif"];',
  ];
  for (const { name, label, shape, status } of nodes) {
    lines.push(`  ${name} [label=${quoteDot(label)} ${dotLook(shape, status)}];`);
  }
  for (const edge of edges) lines.push(`  ${edge.from} -> ${edge.to}${dotEdge(edge)};`);
  return `${[...lines, "}"].join("\n")}\n`;
}

function dotLook(shape: DrawnNode["shape"], status: DrawnNode["status"]): string {
  if (status === null) return DOT_SHAPES[shape];
  const colour = `fillcolor="${STATUS_COLOURS[status]}"`;
  return shape === "routed"
    ? `shape=box style="rounded,dashed,filled" ${colour}`
    : `${DOT_SHAPES[shape]} style=filled ${colour}`;
}

function dotEdge({ kind, label, then }: DrawnEdge): string {
  if (kind === "depends") return "";
  // Routes lead back or aside; only dependencies may say how steps are ranked.
  const look = then === "continue" || then === "fail" ? DOT_ENDS[then] : DOT_LINKS[kind];
  return ` [label=${quoteDot(label ?? "")} ${look} constraint=false]`;
}

function quoteDot(text: string): string {
  const escaped = text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
  return `"${escaped.replace(/\p{Cc}/gu, " ")}"`;
}
