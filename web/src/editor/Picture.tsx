import { type ReactNode, type RefObject, useRef, useState } from "react";
import { Button } from "../parts/Button.js";
import type { Survey, SurveyEdge, TextProblem } from "./check.js";
import { GraphPane } from "./GraphPane.js";
import { EdgeInspector } from "./Inspector.js";
import { NewEdge } from "./NewEdge.js";
import type { TextView } from "./text-view.js";
import type { useChosen } from "./use-chosen.js";
import type { useEdges } from "./use-edges.js";

interface PictureProps {
  readonly graph: Survey | null;
  /** The graph belongs to an older text, because the present one cannot be parsed. */
  readonly isOld: boolean;
  readonly problems: readonly TextProblem[];
  readonly mayEdit: boolean;
  /** A hidden graph cannot be fitted into its pane. */
  readonly isShown: boolean;
  /** Whether the graph belongs to the present text. */
  readonly isSettled: boolean;
  readonly steps: readonly string[];
  readonly chosen: ReturnType<typeof useChosen>;
  readonly edges: ReturnType<typeof useEdges>;
  readonly view: RefObject<TextView | null>;
}

/** The graph with the tools that edit its edges. */
export function Picture(props: PictureProps): ReactNode {
  const { graph, isOld, problems, mayEdit, isShown, isSettled, steps, chosen, edges, view } = props;
  const [isAdding, setIsAdding] = useState(false);
  const pane = useRef<HTMLElement>(null);
  const canDraw = mayEdit && !isOld;
  const add = async (keys: Parameters<typeof edges.add>[0]): Promise<void> => {
    setIsAdding(false);
    chosen.awaitNext();
    await edges.add(keys);
  };
  const depend = async (from: string, to: string): Promise<void> => {
    setIsAdding(false);
    await edges.depend(from, to);
  };
  const stepOf = new Map((graph?.nodes ?? []).map(({ name, step }) => [name, step ?? "or"]));
  const { edge } = chosen;
  return (
    <section className="edgraph" aria-label="Graph" ref={pane}>
      {graph === null ? (
        <p className="pad dim">There is nothing to draw yet: the text has no steps that can be read.</p>
      ) : (
        isShown && (
          <GraphPane
            graph={graph}
            problems={problems}
            chosen={edge?.id ?? null}
            mayEdit={canDraw}
            paneWidth={pane.current?.clientWidth ?? 0}
            onChoose={(id) => {
              setIsAdding(false);
              chosen.choose(id);
            }}
            onStep={(step) => {
              const line = graph.nodes.find((node) => node.step === step)?.lines?.first;
              if (line !== undefined) view.current?.goTo(line);
            }}
            onDraw={(ends) => void add(ends)}
          />
        )
      )}
      {mayEdit && (
        <div className="edtools row">
          <Button
            why={canDraw ? null : "The text cannot be read: fix its syntax first"}
            onPress={() => setIsAdding(true)}
          >
            Add edge
          </Button>
          <button type="button" className="btn" onClick={() => view.current?.undo()}>
            Undo
          </button>
          <button type="button" className="btn" onClick={() => view.current?.redo()}>
            Redo
          </button>
          <span className="small dim hint">
            Drag from a step's lower edge to draw one: left half success, right half failure. Dashed steps run
            only when something leads to them.
          </span>
        </div>
      )}
      {isOld && (
        <p className="banner warn oldgraph" role="status">
          The text cannot be read. This is the graph of the text before.
        </p>
      )}
      {isAdding && (
        <NewEdge
          steps={steps}
          onAdd={(keys) => void add(keys)}
          onDepend={(from, to) => void depend(from, to)}
          onClose={() => setIsAdding(false)}
        />
      )}
      {!isAdding && edge !== null && (
        <EdgeInspector
          key={edge.id}
          edge={edge}
          rival={rivalOf(edge, graph)}
          from={stepOf.get(edge.from) ?? ""}
          to={stepOf.get(edge.to) ?? ""}
          fixed={fixedBecause(mayEdit, isOld, isSettled, isEditable(edge, graph))}
          onChange={(keys) => void edges.change(edge, keys)}
          onDelete={() => {
            chosen.drop();
            if (edge.transition !== null) void edges.remove(edge);
            else void edges.release(stepOf.get(edge.from) ?? "", stepOf.get(edge.to) ?? "");
          }}
          onLines={() => edge.lines !== null && view.current?.goTo(edge.lines.first)}
          onClose={chosen.drop}
        />
      )}
    </section>
  );
}

/** Another step that the same outcome leads to with the same priority; null if there is none. */
function rivalOf(edge: SurveyEdge, graph: Survey | null): string | null {
  if (graph === null || edge.transition === null || edge.priority === null) return null;
  const rival = graph.edges.find(
    (each) =>
      each.id !== edge.id &&
      each.transition !== null &&
      each.from === edge.from &&
      each.kind === edge.kind &&
      each.priority === edge.priority,
  );
  return graph.nodes.find(({ name }) => name === rival?.to)?.step ?? null;
}

/**
 * Whether an edge can be edited here: transitions and dependencies can; the parts of a choice and of `on_fail` are
 * edited in the text.
 */
function isEditable({ transition, kind, from, to }: SurveyEdge, graph: Survey | null): boolean {
  if (transition !== null) return true;
  const isStep = (name: string) => graph?.nodes.find((node) => node.name === name)?.step != null;
  return kind === "depends" && isStep(from) && isStep(to);
}

/** Why an edge cannot be changed here; null if it can. */
function fixedBecause(
  mayEdit: boolean,
  isOld: boolean,
  isSettled: boolean,
  canBeEdited: boolean,
): string | null {
  if (!mayEdit) return "";
  if (isOld) return "Fix the syntax of the text first.";
  if (!canBeEdited) return "This edge belongs to its step: change it in the text.";
  return isSettled ? null : "The text is being checked.";
}
