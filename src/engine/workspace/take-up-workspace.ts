import { DarumaError } from "../../core/errors/errors.js";
import type { Command } from "../../core/model/commands.js";
import { messageOf } from "../../core/text/message-of.js";
import type { EngineOptions } from "../engine-options.js";
import type { RunHost } from "../run-host.js";
import type { WorkspaceKeeper } from "./workspace-keeper.js";

/**
 * What the run is to be told once this engine can work in its workspace. One that is out of reach is not this engine's to
 * fail: the run is told who could not have it, and is left to another (WORKSPACE_ELSEWHERE).
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
    // One that cannot be found again in its own folder is the failure of the step that wants it.
    if (!isElsewhere(error)) return [];
    host.take({ type: "workspace.leave", host: owner.host, message: messageOf(error) }, clock.now());
    throw error;
  }
}

export function isElsewhere(error: unknown): boolean {
  return error instanceof DarumaError && error.code === "WORKSPACE_ELSEWHERE";
}
