import { DarumaError } from "../../../core/errors/errors.js";
import type { Command } from "../../../core/model/commands.js";
import { messageOf } from "../../../core/text/message-of.js";
import type { EngineOptions } from "../engine-options.js";
import type { RunHost } from "../run-host.js";
import type { WorkspaceKeeper } from "./workspace-keeper.js";

/**
 * The commands for a run once this engine can use its workspace. If the workspace cannot be reached, the run does not
 * fail: this is recorded, and the run is left to another engine (WORKSPACE_ELSEWHERE).
 */
export async function takeUpWorkspace(
  keeper: WorkspaceKeeper,
  host: RunHost,
  { clock, owner }: Pick<EngineOptions, "clock" | "owner">,
): Promise<Command[]> {
  if (host.run.workspace.path === null) return [];
  try {
    const movedTo = await keeper.takeUp(host.run);
    return movedTo === null ? [] : [{ type: "workspace.move", ...movedTo }];
  } catch (error) {
    // If it is missing in its own folder, the step that needs it fails.
    if (!isElsewhere(error)) return [];
    host.take({ type: "workspace.leave", host: owner.host, message: messageOf(error) }, clock.now());
    throw error;
  }
}

export function isElsewhere(error: unknown): boolean {
  return error instanceof DarumaError && error.code === "WORKSPACE_ELSEWHERE";
}
