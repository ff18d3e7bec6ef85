import { z } from "zod";
import type { LoggedEvent } from "../../core/model/events.js";
import type { RunStatus } from "../../core/model/rows.js";

/** What `export_run` writes and `import_run` reads. */
export const document = z.looseObject({ format: z.string(), version: z.number() });

/**
 * A run as one JSON document. Jobs, attempts and routes follow from the log. Outputs that are kept as files name them
 * as they stand in `files`, below `artifacts/`; a log is `logs/<n>_a<attempt>.o`, n being the place of its job in the run.
 */
export interface RunDocument {
  readonly format: typeof DOCUMENT_FORMAT;
  readonly version: typeof DOCUMENT_VERSION;
  readonly exported_at: string;
  readonly run: { readonly id: number; readonly workflow: string; readonly status: RunStatus };
  /** The frozen definition as JSON text. */
  readonly definition: string;
  readonly events: readonly LoggedEvent[];
  readonly files: readonly DocumentFile[];
  /** Files beyond the limit, or unreadable ones. */
  readonly left_out: readonly string[];
}

export interface DocumentFile {
  readonly name: string;
  readonly base64: string;
}

export const DOCUMENT_FORMAT = "daruma-run";

/** What is written and read. Events have the keys that programs see; steps of the definition leave out what is usual. */
export const DOCUMENT_VERSION = 1;

/** Limit for all files together, because the reader needs the whole document in memory. */
export const MAX_FILE_BYTES = 32 * 1_024 * 1_024;

export const LOGS = "logs/";

export const ARTIFACTS = "artifacts/";

const SAFE_PART = "[A-Za-z0-9_-][A-Za-z0-9_.-]{0,200}";

const SAFE_NAME = new RegExp(`^${SAFE_PART}(?:/${SAFE_PART}){0,8}$`);

/** A folder with a HEAD is a repository to git, which obeys the settings in it. Names with a dot first are not safe anyway. */
const GIT_READS = /^(?:head|config|config\.worktree|commondir|gitdir|.*\.git)$/i;

/** No name from outside may lead anywhere but below the folder that it is put into, nor tell git what to do there. */
export function isSafeName(name: string): boolean {
  return SAFE_NAME.test(name) && !name.split("/").some((part) => GIT_READS.test(part));
}

/** `logs/2_a1.recovery.e` */
export const LOG_NAME = /^logs\/(\d{1,7})_a(\d{1,9})\.(recovery\.)?([oe]|usage\.csv)$/;
