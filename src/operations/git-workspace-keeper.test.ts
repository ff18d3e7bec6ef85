import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeRepository } from "../../test/support/git-repository.js";
import type { Run } from "../core/run.js";
import { openWorkspaces, type Workspaces } from "../workspace/workspaces.js";
import { GitWorkspaceKeeper } from "./git-workspace-keeper.js";

const RUN = 7;
let folder = "";
let workspaces: Workspaces;
let keeper: GitWorkspaceKeeper;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-keeper-"));
  makeRepository(join(folder, "repo"), { "a.txt": "a\n" });
  workspaces = openWorkspaces({ outputDir: join(folder, "out") });
  keeper = new GitWorkspaceKeeper(workspaces);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => keeper.open({ runId: RUN, repo: "repo", ref: "HEAD", folder });

/** As far as the keeper looks at it. */
function runAt(commit: string, path: string): Run {
  const definition = { workspace: { repo: "repo", ref: "HEAD" } };
  return { id: RUN, folder, definition, workspace: { commit, path, checkpoints: [] } } as unknown as Run;
}

describe("the keeper of workspaces", () => {
  it("removes what a run that never came to be on record has left under the same id", async () => {
    const { path } = await open();
    writeFileSync(join(path, "left-over.txt"), "x");
    const again = await open();
    expect(existsSync(join(again.path, "left-over.txt"))).toBe(false);
  });

  it("moves the pointer after the log where a crash came in between", async () => {
    const { commit, path } = await open();
    const built = await keeper.rebuild({ run: runAt(commit, path), rebuild: 1, replay: [] }, live());
    const promoted = (built as { path: string }).path;
    expect((await workspaces.current(RUN))?.path).toBe(path);
    await keeper.takeUp(runAt(commit, promoted));
    expect((await workspaces.current(RUN))?.path).toBe(promoted);
    expect(existsSync(path)).toBe(false);
  });

  it("never clears away the tree that the log names, even if the pointer lags behind", async () => {
    const { commit, path } = await open();
    const built = await keeper.rebuild({ run: runAt(commit, path), rebuild: 1, replay: [] }, live());
    const promoted = (built as { path: string }).path;
    writeFileSync(join(promoted, "work.txt"), "of a step");
    await keeper.rebuild({ run: runAt(commit, promoted), rebuild: 2, replay: [] }, live());
    expect(readFileSync(join(promoted, "work.txt"), "utf8")).toBe("of a step");
  });

  it("leaves nothing of one that is given up while it is built", async () => {
    const { commit, path } = await open();
    const controller = new AbortController();
    const built = keeper.rebuild({ run: runAt(commit, path), rebuild: 1, replay: [] }, controller.signal);
    controller.abort("discarded");
    await keeper.discard({ runId: RUN, path: null });
    expect(await built).toMatchObject({ ok: false });
    expect(existsSync(join(path, "..", "2"))).toBe(false);
    expect((await workspaces.current(RUN))?.path).toBe(path);
  });
});

function live(): AbortSignal {
  return new AbortController().signal;
}
