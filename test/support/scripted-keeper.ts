import type { AttemptName } from "../../src/core/model/events.js";
import type { Clock } from "../../src/run/engine/clock.js";
import type {
  BuiltWorkspace,
  OpenedWorkspace,
  SetAside,
  TakenOver,
  UnwantedLeftover,
  WantedWorkspace,
  WorkspaceKeeper,
} from "../../src/run/engine/workspace/workspace-keeper.js";

/** What building one fresh workspace comes to; the last one repeats. */
export type Rebuilt = "ok" | "fail" | { readonly takesMs: number; readonly fails?: boolean };

/** Builds no workspaces, but remembers which were asked for and which were given up. */
export class ScriptedKeeper implements WorkspaceKeeper {
  readonly asked: { readonly rebuild: number; readonly replay: readonly number[] }[] = [];
  readonly discarded: number[] = [];
  /** In which tree something was set aside. */
  readonly setAsides: string[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly script: readonly Rebuilt[] = ["ok"],
    private readonly asides: readonly Rebuilt[] = ["ok"],
  ) {}

  rebuild(
    { rebuild, replay, leftover, goesBack }: WantedWorkspace,
    signal: AbortSignal,
  ): Promise<BuiltWorkspace> {
    const outcome = this.script[Math.min(this.asked.length, this.script.length - 1)] ?? "ok";
    this.asked.push({ rebuild, replay });
    const fails = outcome === "fail" || (typeof outcome === "object" && outcome.fails === true);
    const built: BuiltWorkspace = fails
      ? { ok: false, message: "patch 1 does not apply" }
      : {
          ok: true,
          path: `/workspace-${rebuild}`,
          partial: leftover && { ...leftover, ...keptAs(leftover) },
          previous: goesBack ? `patches/previous/rebuild-${rebuild}.patch` : null,
        };
    if (typeof outcome === "string") return Promise.resolve(built);
    return new Promise((resolve) => {
      const cancel = this.clock.setTimer(this.clock.now() + outcome.takesMs, () => resolve(built));
      signal.addEventListener("abort", () => {
        cancel();
        resolve({ ok: false, message: "given up" });
      });
    });
  }

  async setAside({ job, attempt, path }: UnwantedLeftover): Promise<SetAside> {
    const outcome = this.asides[Math.min(this.setAsides.length, this.asides.length - 1)] ?? "ok";
    this.setAsides.push(path);
    if (typeof outcome === "object")
      await new Promise<void>((resolve) => {
        this.clock.setTimer(this.clock.now() + outcome.takesMs, resolve);
      });
    if (outcome === "fail") return { ok: false, message: "a file cannot be removed" };
    return { ok: true, ...keptAs({ job, attempt }) };
  }

  async open(): Promise<OpenedWorkspace> {
    return { commit: "pinned", path: "/workspace" };
  }

  /** What the next owner finds: null, the workspace in its place. */
  elsewhere: TakenOver | Error | null = null;

  async takeUp(): Promise<TakenOver | null> {
    if (this.elsewhere instanceof Error) throw this.elsewhere;
    return this.elsewhere;
  }
  async promote(): Promise<void> {}

  async discard({ rebuild }: { rebuild: number }): Promise<void> {
    this.discarded.push(rebuild);
  }
}

function keptAs({ job, attempt }: AttemptName): { patch: string; files: number } {
  return { patch: `patches/partial/j${job}_a${attempt}.patch`, files: 1 };
}
