import type { Definition } from "./definition.js";
import { FUNCTION, flowOf, MAP, WAIT } from "./flow.js";

/** What the rest of Daruma has to know of a kind of action, beside how it is done. */
interface ActionTraits {
  /**
   * Who executes it: any worker, only the worker in the server's own process (because it needs the engine), or a
   * person. Work for a worker waits for room on it; other work starts at once.
   */
  readonly doneBy: "worker" | "server" | "person";
  /** It starts a process: so it can work on files in a workspace, and its failures have exit codes. */
  readonly startsProcess: boolean;
  /** Whether it has a prompt. Self-heal watches such actions, because agents and models get stuck. */
  readonly isPrompted: boolean;
  /** What it prints is worth reading after a failure. */
  readonly isTalkative: boolean;
  /** Something outside the run may change by it. What has no effects can be done again, or before its start is committed. */
  readonly hasEffects: boolean;
  /** Keys that are passed on as they are written: code and schemas. All others are templates. */
  readonly verbatimKeys: readonly string[];
  /** The one of them that is JavaScript over the run's variables. */
  readonly scriptKey: string | null;
}

/** Limit for the code of a script step. */
export const MAX_SCRIPT_BYTES = 256 * 1024;

const PLAIN = {
  doneBy: "worker",
  startsProcess: false,
  isPrompted: false,
  isTalkative: false,
  hasEffects: true,
  verbatimKeys: [],
  scriptKey: null,
} as const satisfies ActionTraits;

/** Every built-in action. The tables of their keys and of their makers demand an entry for each. */
export const ACTION_TRAITS = {
  command: { ...PLAIN, startsProcess: true, isTalkative: true, verbatimKeys: ["shell"] },
  http: PLAIN,
  script: { ...PLAIN, hasEffects: false, verbatimKeys: ["content"], scriptKey: "content" },
  noop: { ...PLAIN, hasEffects: false },
  human: { ...PLAIN, doneBy: "person" },
  workflow: { ...PLAIN, doneBy: "server" },
  agent: { ...PLAIN, startsProcess: true, isPrompted: true, isTalkative: true, verbatimKeys: ["shell"] },
  llm_call: { ...PLAIN, isPrompted: true, isTalkative: true, verbatimKeys: ["schema"] },
} as const satisfies { readonly [type: string]: ActionTraits };

/** A function of the library's user may do anything. */
const CUSTOM: ActionTraits = { ...PLAIN, startsProcess: true, isTalkative: true };

/** The program of a flow and what it calls: in the process that has the program, in no place that a worker has. */
const OF_FLOW: ActionTraits = { ...PLAIN, doneBy: "server", isTalkative: true };

export type BuiltInAction = keyof typeof ACTION_TRAITS;
export const BUILT_IN_ACTIONS = Object.keys(ACTION_TRAITS) as readonly BuiltInAction[];

/** The built-in actions that these do. */
export type ActionDoneBy<Who extends ActionTraits["doneBy"]> = {
  [Type in BuiltInAction]: (typeof ACTION_TRAITS)[Type]["doneBy"] extends Who ? Type : never;
}[BuiltInAction];

export function isBuiltInAction(type: string): type is BuiltInAction {
  return Object.hasOwn(ACTION_TRAITS, type);
}

export function actionTraits(type: string): ActionTraits {
  if (isBuiltInAction(type)) return ACTION_TRAITS[type];
  return isOfFlow(type) ? OF_FLOW : CUSTOM;
}

/** The program of a flow, or what it calls beside the actions of a file. */
export function isOfFlow(type: string): boolean {
  return flowOf(type) !== null || type === FUNCTION || type === WAIT || type === MAP;
}

/** Types of steps that are functions of a program, each once. */
export function programActions({ steps }: Pick<Definition, "steps">): string[] {
  return [...new Set(steps.map(({ action }) => action.type))].filter((type) => !isBuiltInAction(type));
}
