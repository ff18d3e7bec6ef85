import type { Definition } from "../../core/model/definition.js";
import type { WorkflowEdit } from "../../file/edit/edit-text.js";
import type { Problem } from "../../file/read/problem.js";
import type { Survey } from "../../file/survey.js";

/** A workflow ready to run: its definition with where it came from. */
export interface Workflow {
  readonly definition: Definition;
  readonly hash: string;
  readonly text: string;
  /** What it was read from; missing: a program has built it. */
  readonly written?: string;
  readonly file: string | null;
  /** Relative paths start here. */
  readonly folder: string;
  readonly warnings: readonly Problem[];
  /** Only where it was asked for; null: nothing of it can be drawn. */
  readonly survey?: Survey | null;
}

/** The place of a workflow that is not a file here. */
export interface TextPlace {
  /** Shown in problems; its name without the ending is the workflow's default name. */
  readonly file: string;
  /** Relative paths start here. */
  readonly folder: string;
  readonly customActions: readonly string[];
  /** Names of the breakers of the settings; by default none. */
  readonly sharedBreakers?: readonly string[];
  /** Names of the channels of the settings; missing: they are not known here. */
  readonly channelNames?: readonly string[];
  /** Draw it too, or as much of it as can be read. */
  readonly surveys?: boolean;
}

export interface TextReader {
  /** Throws InvalidWorkflow with every problem. */
  read(source: string, place: TextPlace): Promise<Workflow>;
  /** The text with the change in it. */
  edit(source: string, edit: WorkflowEdit, file: string): Promise<string>;
}

/** What the texts of workflows are read with. */
export interface Reading {
  /** Types of steps that the program itself brings. */
  readonly customActions: readonly string[];
  /** Names of the breakers of the settings; by default none. */
  readonly sharedBreakers?: readonly string[];
  /** Names of the channels of the settings; missing: they are not known here. */
  readonly channelNames?: readonly string[];
  /** Reads a workflow's text without blocking other work. If it is missing, the text is read at once. */
  readonly workflowReader?: TextReader;
}
