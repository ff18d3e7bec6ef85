import { type FormEvent, type ReactNode, type RefObject, useId, useRef, useState } from "react";
import { Button } from "../parts/Button.js";
import { Icon } from "../parts/Icon.js";
import type { Survey, SurveyEdge, TextProblem } from "./check.js";
import { GraphPane } from "./GraphPane.js";
import { EdgeInspector, type EdgeKeys, OUTCOMES, type Outcome } from "./Inspector.js";
import type { TextView } from "./text-view.js";
import type { useChosen, useEdges } from "./use-edges.js";

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

interface NewEdgeProps {
  readonly steps: readonly string[];
  readonly onAdd: (keys: EdgeKeys) => void;
  /** Makes the second step wait for the first. */
  readonly onDepend: (from: string, to: string) => void;
  readonly onClose: () => void;
}

/** A form that adds an edge, for people who do not use a pointer. */
function NewEdge({ steps, onAdd, onDepend, onClose }: NewEdgeProps): ReactNode {
  const id = useId();
  const [from, setFrom] = useState(steps[0] ?? "");
  const [to, setTo] = useState(steps[1] ?? "");
  const [on, setOn] = useState<Outcome | "depends">("failure");
  const why = from === to ? "An edge leads to another step" : null;
  const add = (event: FormEvent): void => {
    event.preventDefault();
    if (why !== null) return;
    if (on === "depends") onDepend(from, to);
    else onAdd({ from, to, on });
  };
  const choices = steps.map((step) => <option key={step}>{step}</option>);
  return (
    <aside className="insp" aria-label="New edge">
      <header className="row">
        <h2>New edge</h2>
        <button type="button" className="btn icon ghost end" aria-label="Close" onClick={onClose}>
          <Icon name="cross" small />
        </button>
      </header>
      <form className="inspbody" onSubmit={add}>
        <div className="field">
          <label htmlFor={`${id}f`}>From</label>
          <select
            id={`${id}f`}
            // biome-ignore lint/a11y/noAutofocus: who asked for it goes on here
            autoFocus
            className="input mono"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          >
            {choices}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}o`}>When it</label>
          <select
            id={`${id}o`}
            className="input"
            value={on}
            onChange={(event) => setOn(event.target.value as Outcome | "depends")}
          >
            {OUTCOMES.map(({ on: value, words }) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
            <option value="depends">is what the other waits for (depends_on)</option>
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}t`}>To</label>
          <select
            id={`${id}t`}
            className="input mono"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          >
            {choices}
          </select>
        </div>
        <div className="row">
          <Button why={why} look="first" submits>
            Add edge
          </Button>
        </div>
      </form>
    </aside>
  );
}
