import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeRepository } from "../../../test/support/git-repository.js";
import type { Run } from "../../core/model/run.js";
import type { OpenedWorkspace } from "../engine/workspace/workspace-keeper.js";
import { MAX_SHELVED_BYTES, type PatchShelf } from "../workspace/patch.js";
import type { Workspaces } from "../workspace/workspace.js";
import { openWorkspaces } from "../workspace/workspaces.js";
import { GitWorkspaceKeeper } from "./git-workspace-keeper.js";

const RUN = 7;
let folder = "";
let workspaces: Workspaces;
let keeper: GitWorkspaceKeeper;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-keeper-"));
  makeRepository(join(folder, "repo"), { "a.txt": "a\n" });
  workspaces = openWorkspaces({ outputDir: join(folder, "out") });
  keeper = new GitWorkspaceKeeper(workspaces, "here");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => keeper.open({ runId: RUN, repo: "repo", ref: "HEAD", folder });

/** As far as the keeper looks at it. */
function runAt(
  { commit, home = "", host = "" }: OpenedWorkspace,
  path: string,
  checkpoints: readonly unknown[] = [],
): Run {
  const definition = { workspace: { repo: "repo", ref: "HEAD" } };
  const workspace = { commit, base: commit, path, home: { home, host }, checkpoints };
  return { id: RUN, folder, definition, workspace } as unknown as Run;
}

describe("the keeper of workspaces", () => {
  it("removes what a run that never came to be on record has left under the same id", async () => {
    const { path } = await open();
    writeFileSync(join(path, "left-over.txt"), "x");
    const again = await open();
    expect(existsSync(join(again.path, "left-over.txt"))).toBe(false);
  });

  it("moves the pointer after the log where a crash came in between", async () => {
    const opened = await open();
    const { path } = opened;
    const built = await keeper.rebuild(
      { run: runAt(opened, path), rebuild: 1, replay: [], leftover: null, goesBack: false },
      live(),
    );
    const promoted = (built as { path: string }).path;
    expect((await workspaces.current(RUN))?.path).toBe(path);
    expect(await keeper.takeUp(runAt(opened, promoted))).toBeNull();
    expect((await workspaces.current(RUN))?.path).toBe(promoted);
    expect(existsSync(path)).toBe(false);
  });

  it("never clears away the tree that the log names, even if the pointer lags behind", async () => {
    const opened = await open();
    const built = await keeper.rebuild(
      { run: runAt(opened, opened.path), rebuild: 1, replay: [], leftover: null, goesBack: false },
      live(),
    );
    const promoted = (built as { path: string }).path;
    writeFileSync(join(promoted, "work.txt"), "of a step");
    await keeper.rebuild(
      { run: runAt(opened, promoted), rebuild: 2, replay: [], leftover: null, goesBack: false },
      live(),
    );
    expect(readFileSync(join(promoted, "work.txt"), "utf8")).toBe("of a step");
  });

  it("keeps a person's changes of the workspace that is replaced, but no failed attempt's a second time", async () => {
    const opened = await open();
    const run = runAt(opened, opened.path);
    const build = async (rebuild: number) =>
      keeper.rebuild({ run, rebuild, replay: [], leftover: null, goesBack: false }, live());
    expect(await build(1)).toMatchObject({ ok: true, others: null });
    writeFileSync(join(opened.path, "a.txt"), "of the attempt\n");
    const workspace = (await workspaces.current(RUN))!;
    const { diffHash: diff_hash } = await workspaces.changes(workspace, opened.commit);
    run.workspace.leftover = { job: { error: { diff_hash } } } as never;
    expect(await build(2)).toMatchObject({ others: null });
    writeFileSync(join(opened.path, "b.txt"), "by hand\n");
    expect(await build(3)).toMatchObject({ others: { patch: "patches/other/rebuild-3.patch", files: 2 } });
    const patch = readFileSync(join(folder, "out/output/run-7/patches/other/rebuild-3.patch"), "utf8");
    expect(patch).toContain("+by hand");
    expect(patch).toContain("+of the attempt");
  });

  it("leaves nothing of one that is given up while it is built", async () => {
    const opened = await open();
    const { path } = opened;
    const controller = new AbortController();
    const built = keeper.rebuild(
      { run: runAt(opened, path), rebuild: 1, replay: [], leftover: null, goesBack: false },
      controller.signal,
    );
    controller.abort("discarded");
    await keeper.discard({ runId: RUN, path: null });
    expect(await built).toMatchObject({ ok: false });
    expect(existsSync(join(path, "..", "2"))).toBe(false);
    expect((await workspaces.current(RUN))?.path).toBe(path);
  });
});

/** Patches as a store keeps them, for several servers. */
function shelf(): PatchShelf & { readonly kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    putPatch: async ({ runId, diffHash, bytes }) => void kept.set(`${runId}/${diffHash}`, bytes),
    readPatch: async (runId, diffHash) => kept.get(`${runId}/${diffHash}`) ?? null,
  };
}

/** A server with an output folder of its own. */
function server(name: string, patches: PatchShelf) {
  const own = openWorkspaces({ outputDir: join(folder, name), patches });
  return { workspaces: own, keeper: new GitWorkspaceKeeper(own, name) };
}

async function step(own: Workspaces, since: string, ordinal: number, file: string, text: string) {
  const workspace = (await own.current(RUN))!;
  writeFileSync(join(workspace.path, file), text);
  const input = { ordinal, stepId: file, index: 0, attempts: 1, at: 0, since };
  return own.checkpoint(workspace, input);
}

describe("a run that another output folder had", () => {
  it("goes on in a workspace that is built from the store, to and fro, and never in what is left behind", async () => {
    const patches = shelf();
    const [a, b] = [server("a", patches), server("b", patches)];
    const opened = await a.keeper.open({ runId: RUN, repo: "repo", ref: "HEAD", folder });
    expect(opened).toMatchObject({ host: "a" });
    const first = await step(a.workspaces, opened.commit, 1, "one.txt", "1\n");
    expect(first.stored).toBe(true);
    // Of a step that was lost with its server: its patch was never on record.
    await step(a.workspaces, first.commit, 2, "lost.txt", "lost\n");

    const onB = (await b.keeper.takeUp(runAt(opened, opened.path, [first])))!;
    expect(onB.host).toBe("b");
    expect(readdirSync(onB.path).sort()).toEqual([".git", "a.txt", "one.txt"]);
    const second = await step(b.workspaces, first.commit, 2, "two.txt", "2\n");
    const run = runAt({ commit: opened.commit, ...onB }, onB.path, [first, second]);
    expect(await b.keeper.takeUp(run)).toBeNull();

    // The trees of both have the same number; the older one must not be taken for it.
    expect(basename(onB.path)).toBe(basename(opened.path));
    const onA = (await a.keeper.takeUp(run))!;
    expect(readdirSync(onA.path).sort()).toEqual([".git", "a.txt", "one.txt", "two.txt"]);
    expect(new Set([opened.home, onB.home, onA.home]).size).toBe(3);
    expect(existsSync(opened.path)).toBe(false);
  });

  it("is found again where the output folder was moved, as it was left", async () => {
    const opened = await open();
    writeFileSync(join(opened.path, "work.txt"), "of a step");
    renameSync(join(folder, "out"), join(folder, "moved"));
    const moved = new GitWorkspaceKeeper(openWorkspaces({ outputDir: join(folder, "moved") }), "here");
    expect(await moved.takeUp(runAt(opened, opened.path))).toBeNull();
  });

  it("is left alone where a patch or the repository is out of reach", async () => {
    const patches = shelf();
    const [a, b] = [server("a", patches), server("b", patches)];
    const opened = await a.keeper.open({ runId: RUN, repo: "repo", ref: "HEAD", folder });
    const made = await step(a.workspaces, opened.commit, 1, "one.txt", "1\n");
    const run = runAt(opened, opened.path, [made]);
    renameSync(join(folder, "repo"), join(folder, "gone"));
    await expect(b.keeper.takeUp(run)).rejects.toMatchObject({
      code: "WORKSPACE_ELSEWHERE",
      message: expect.stringMatching(
        /^the workspace of run 7 is in .*\/a\/.* on a, and cannot be built here: /,
      ),
    });
    renameSync(join(folder, "gone"), join(folder, "repo"));
    const without = server("c", shelf()).keeper.takeUp(run);
    await expect(without).rejects.toThrow(/cannot be built here: .*step-0001.patch cannot be read/);
    expect(await b.keeper.takeUp(run)).toMatchObject({ host: "b" });
  });
});

describe("a patch", () => {
  it("that is missing is put back from the store; one that is too large for it stays a file", async () => {
    const patches = shelf();
    const { keeper: own, workspaces: files } = server("a", patches);
    const opened = await own.open({ runId: RUN, repo: "repo", ref: "HEAD", folder });
    const small = await step(files, opened.commit, 1, "small.txt", "small\n");
    const noise = randomBytes(MAX_SHELVED_BYTES + 1_024 * 1_024).toString("latin1");
    const large = await step(files, small.commit, 2, "large.bin", noise);
    expect([small.stored, large.stored]).toEqual([true, false]);
    expect(patches.kept.size).toBe(1);
    const run = runAt(opened, opened.path, [small, large]);
    rmSync(join(folder, "a/output/run-7", small.patch));
    const built = await own.rebuild({ run, rebuild: 1, replay: [], leftover: null, goesBack: false }, live());
    expect(built.ok).toBe(true);
    const wanted = {
      ...{ run: runAt(opened, opened.path, [small, large]), rebuild: 2 },
      ...{ replay: [1, 2], leftover: null, goesBack: false },
    };
    expect(await own.rebuild(wanted, live())).toMatchObject({ ok: true });
    rmSync(join(folder, "a/output/run-7", large.patch));
    await expect(own.rebuild({ ...wanted, rebuild: 3 }, live())).rejects.toMatchObject({
      code: "WORKSPACE_PATCH_MISSING",
    });
  });
});

function live(): AbortSignal {
  return new AbortController().signal;
}
