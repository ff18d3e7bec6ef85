import type { Condition, Definition } from "../core/model/definition.js";
import { type DrawnEdge, type DrawnNode, draw } from "./draw/drawing.js";
import { takenWhen } from "./draw/taken-when.js";
import type { StepEntry } from "./fields/step-entries.js";
import type { TransitionDraft } from "./fields/transition-fields.js";
import { dependencyGroups } from "./normalise/normalise.js";
import { pathSegments, placeText } from "./read/path.js";
import type { Located } from "./read/schema.js";
import { lineStartsOf, SourceText } from "./read/source-text.js";
import { nodeAt, type SourceNode } from "./read/source-tree.js";

/** The lines of a text that something stands in, from 1; both belong to it. */
export interface Lines {
  readonly first: number;
  readonly last: number;
}

/** A drawing of a text that may have problems: as much as could be read, with the lines that it stands in. */
export interface Survey {
  readonly nodes: readonly (DrawnNode & { readonly lines: Lines | null })[];
  readonly edges: readonly PlacedEdge[];
}

type PlacedEdge = DrawnEdge & {
  readonly lines: Lines | null;
  /** Its number in the file's list of transitions, from 1, by which it is edited; null: it is not in that list. */
  readonly transition: number | null;
  /** For a transition: its condition as data. */
  readonly when: Condition | null;
  /** For a transition: sentences that say when it is taken. */
  readonly taken: string | null;
};

/** The parts of a workflow that could be read. */
export interface WorkflowAsRead {
  readonly root: SourceNode;
  readonly definition: Definition;
  readonly entries: readonly StepEntry[];
  readonly transitions: readonly TransitionDraft[];
}

/** More are not drawn: nobody would see anything in the picture. */
const MAX_STEPS = 5_000;

export function surveyOf(source: string, read: WorkflowAsRead): Survey | null {
  if (read.entries.length === 0 || read.entries.length > MAX_STEPS) return null;
  const places = new Places(source.replace(/^\uFEFF/, ""), read);
  const unread = new Set(read.entries.flatMap(({ id, raw }) => (raw === null ? [id] : [])));
  for (const { id } of read.definition.steps) unread.delete(id);
  const { nodes, edges } = draw(read.definition, {}, [...unread]);
  return {
    nodes: nodes.map((node) => ({ ...node, lines: places.ofStep(node.step) })),
    edges: edges.map((edge) => ({ ...edge, ...places.ofEdge(edge) })),
  };
}

class Places {
  readonly #text: SourceText;
  readonly #edges = new Map<string, Located<unknown>>();
  readonly #steps: ReadonlyMap<string, StepEntry>;
  readonly #taken: ReadonlyMap<number, string>;
  /** The position of each transition among the readable ones, by its edge's id. */
  readonly #transitions: ReadonlyMap<string, number>;

  constructor(
    source: string,
    private readonly read: WorkflowAsRead,
  ) {
    this.#text = new SourceText(source, lineStartsOf(source));
    this.#taken = takenWhen(read.definition);
    this.#transitions = new Map(
      read.definition.transitions.map((transition) => [placeText(transition), transition.id - 1]),
    );
    this.#steps = new Map(read.entries.map((entry) => [entry.id, entry]));
    for (const { id, raw } of read.entries) {
      for (const [place, group] of dependencyGroups(raw?.keys.depends_on).entries())
        for (const member of group) {
          this.#edges.set(`steps.${id}.depends_on[${place}]`, member);
          this.#edges.set(`steps.${id}.depends_on[${place}].${member.value}`, member);
        }
      for (const on of ["on_fail", "on_success"] as const) {
        const keys = raw?.keys[on];
        const eachOnce = new Map((keys?.run?.steps ?? []).map((name) => [name.value, name]));
        for (const [place, name] of [...eachOnce.values()].entries())
          this.#edges.set(`steps.${id}.${on}.run[${place}]`, name);
        if (keys?.goto?.step !== undefined) this.#edges.set(`steps.${id}.${on}.goto`, keys.goto.step);
      }
      if (raw?.keys.undo !== undefined) this.#edges.set(`steps.${id}.undo`, raw.keys.undo);
    }
  }

  ofStep(step: string | null): Lines | null {
    const entry = step === null ? undefined : this.#steps.get(step);
    if (entry === undefined || entry.at < 0) return null;
    return this.#linesOf(entry.at, nodeAt(this.read.root, pathSegments(entry.path)));
  }

  ofEdge({ id, kind }: DrawnEdge): Pick<PlacedEdge, "lines" | "transition" | "when" | "taken"> {
    const none = { lines: null, transition: null, when: null, taken: null };
    if (kind.startsWith("transition")) return this.#ofTransition(this.#transitions.get(id)!);
    const found = this.#edges.get(id);
    if (found === undefined || found.at < 0) return none;
    return { ...none, lines: this.#linesOf(found.at, nodeAt(this.read.root, pathSegments(found.path))) };
  }

  /** @param place among those that could be read */
  #ofTransition(place: number): ReturnType<Places["ofEdge"]> {
    const draft = this.read.transitions[place]!;
    const segments = pathSegments(draft.path);
    return {
      lines: this.#linesOf(draft.at, nodeAt(this.read.root, segments)),
      transition: draft.inStep ? null : Number(segments.at(-1)) + 1,
      when: draft.when?.condition ?? null,
      taken: this.#taken.get(place + 1) ?? null,
    };
  }

  #linesOf(at: number, node: SourceNode | null): Lines {
    const first = this.#text.positionOf(at).line;
    const last = node === null ? first : this.#text.positionOf(endOf(node)).line;
    return { first, last: Math.max(first, last) };
  }
}

/** The last character of a value that is known to belong to it; a bracket that closes it may come later. */
function endOf(node: SourceNode): number {
  if (node.kind === "scalar") return node.at + Math.max(0, node.written.length - 1);
  const last = node.kind === "map" ? node.entries.at(-1) : node.items.at(-1);
  if (last === undefined) return node.at;
  return "key" in last ? Math.max(last.keyAt, endOf(last.value)) : endOf(last);
}
