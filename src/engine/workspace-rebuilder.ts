import type { Run } from "../core/run.js";

/** A fresh workspace that is wanted: the run's pinned commit with these checkpoints on top, in this order. */
export interface WantedWorkspace {
  readonly run: Run;
  readonly rebuild: number;
  /** Ordinals of `run.workspace.checkpoints`. */
  readonly replay: readonly number[];
}

export type BuiltWorkspace =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string };

/** Builds workspaces beside the active one, which it never touches. */
export interface WorkspaceRebuilder {
  /** Replays and verifies every hash. The same `rebuild` may be asked for again after a crash. */
  rebuild(wanted: WantedWorkspace, signal: AbortSignal): Promise<BuiltWorkspace>;
  /** Nobody wants it any more; `path` is null where it was not finished. */
  discard(dropped: {
    readonly run: Run;
    readonly rebuild: number;
    readonly path: string | null;
  }): Promise<void>;
}

export const rebuildRefused: WorkspaceRebuilder = {
  rebuild: () => Promise.resolve({ ok: false, message: "this engine cannot build workspaces" }),
  discard: () => Promise.resolve(),
};
