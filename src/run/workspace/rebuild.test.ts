import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  git,
  listFiles,
  listTree,
  makeRepository,
  writeFiles,
} from "../../../test/support/git-repository.js";
import { edit, tryEdit } from "../../../test/support/random-edits.js";
import { BASE_FILES, Chain, codeOf, STEPS } from "../../../test/support/workspace-chain.js";
import { GitProgram } from "./git-program.js";
import { completeTree, makeTree } from "./rebuild.js";
import type { Workspaces } from "./workspace.js";
import { workspacePaths } from "./workspace-paths.js";
import { openWorkspaces } from "./workspaces.js";

const RUN = 7;

let folder = "";
let repo = "";
let outputDir = "";
let workspaces: Workspaces;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-rebuild-"));
  repo = makeRepository(join(folder, "repo"), BASE_FILES);
  outputDir = join(folder, "out");
  workspaces = openWorkspaces({ outputDir });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const begin = async () => new Chain(workspaces, await workspaces.create(RUN, { repo, ref: "HEAD" }));
const threeSteps = async () => (await begin()).addSteps();
const patch = (ordinal: number) =>
  join(outputDir, "output", `run-${RUN}`, "patches", "steps", `step-000${ordinal}.patch`);
const trees = () => readdirSync(workspacePaths(outputDir, RUN).trees);

describe("a hard reset", () => {
  it("after three steps is byte-identical: binary, untracked, deleted, renamed files, modes and links", {
    tags: ["M14"],
  }, async () => {
    const chain = await threeSteps();
    const old = chain.workspace;
    const before = listTree(old.path);
    writeFiles(old.path, { "a.txt": "a mess\n", "left over": "x", "ignored/cache": "x" });
    const mess = listFiles(old.path);
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    expect(listTree(candidate.path)).toEqual(before);
    expect(listFiles(old.path)).toEqual(mess);
    expect(await workspaces.current(RUN)).toEqual(old);
    await workspaces.promote(candidate);
    expect(await workspaces.current(RUN)).toEqual(candidate);
    expect(existsSync(old.path)).toBe(false);
    expect(trees()).toEqual([String(candidate.tree)]);
    expect(await workspaces.changes(candidate, chain.since)).toMatchObject({ diffHash: null });
  });

  it("shows a step the same in git as the tree before it: the pinned commit and changes on top", async () => {
    const chain = await threeSteps();
    const status = git(chain.workspace.path, "status", "--porcelain");
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    expect(git(candidate.path, "status", "--porcelain")).toBe(status);
    expect(git(candidate.path, "rev-parse", "HEAD")).toBe(chain.workspace.commit);
  });

  it("lets the step work and leave its checkpoint in the candidate before the pointer moves", async () => {
    const chain = await threeSteps();
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    chain.workspace = candidate;
    writeFiles(candidate.path, { "by the retry": "done\n" });
    await chain.add();
    expect((await workspaces.current(RUN))?.tree).not.toBe(candidate.tree);
    await workspaces.promote(candidate);
    await workspaces.promote(candidate);
    const again = await workspaces.restore(RUN, chain.replay);
    expect(readFileSync(join(again.path, "by the retry"), "utf8")).toBe("done\n");
  });

  it("works from the patches alone, on a machine that has never seen the run", async () => {
    const chain = await threeSteps();
    const before = listTree(chain.workspace.path);
    await workspaces.remove(RUN);
    const restored = await workspaces.restore(RUN, chain.replay);
    expect(listTree(restored.path)).toEqual(before);
    expect(await workspaces.current(RUN)).toEqual(restored);
    chain.workspace = restored;
    expect(await chain.add()).toMatchObject({ diff_hash: null });
  });

  it("goes back to any checkpoint, and superseded ones are not replayed", async () => {
    const chain = await begin();
    const seen = [listTree(chain.workspace.path)];
    for (const step of STEPS) {
      step(chain.workspace.path);
      await chain.add();
      seen.push(listTree(chain.workspace.path));
    }
    chain.made.length = 1;
    chain.workspace = await workspaces.restore(RUN, chain.replay);
    expect(listTree(chain.workspace.path)).toEqual(seen[1]);
    writeFiles(chain.workspace.path, { other: "way\n" });
    await chain.add(4);
    const other = listTree(chain.workspace.path);
    expect(listTree((await workspaces.restore(RUN, chain.replay)).path)).toEqual(other);
    expect(existsSync(patch(2)) && existsSync(patch(3))).toBe(true);
    chain.made.length = 0;
    expect(listTree((await workspaces.restore(RUN, chain.replay)).path)).toEqual(seen[0]);
  });
});

describe("a step that is taken back", () => {
  it("leaves those after it that have nothing to do with it, with commits of their own", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    for (const name of ["one", "two", "three"]) {
      writeFiles(path, { [`${name}.txt`]: `${name}\n` });
      await chain.add();
    }
    const [, second, third] = chain.made;
    const candidate = await workspaces.rebuild(RUN, { ...chain.replay, checkpoints: [second!, third!] });
    rmSync(join(path, "one.txt"));
    expect(listTree(candidate.path)).toEqual(listTree(path));
    const moved = candidate.moved!;
    expect(moved.map(({ ordinal }) => ordinal)).toEqual([2, 3]);
    for (const [place, { commit }] of moved.entries()) expect(commit).not.toBe(chain.made[place + 1]!.commit);
    expect(await workspaces.changes(candidate, moved[1]!.commit)).toMatchObject({ diffHash: null });
    const again = {
      ...chain.replay,
      checkpoints: [second!, third!].map((made, n) => ({ ...made, ...moved[n] })),
    };
    expect((await workspaces.rebuild(RUN, again)).moved).toBeUndefined();
  });
});

describe("a rebuild that cannot be", () => {
  const TAMPER: readonly [string, string, () => void][] = [
    ["a missing patch", "WORKSPACE_PATCH_MISSING", () => rmSync(patch(2))],
    [
      "a patch that does not apply",
      "WORKSPACE_PATCH_FAILED",
      () =>
        writeFileSync(patch(3), readFileSync(patch(3), "latin1").replace("-three\n", "-tree\n"), "latin1"),
    ],
    [
      "a patch cut off",
      "WORKSPACE_PATCH_FAILED",
      () => writeFileSync(patch(2), readFileSync(patch(2)).subarray(0, 400)),
    ],
    ["an emptied patch", "WORKSPACE_PATCH_ALTERED", () => writeFileSync(patch(3), "")],
    [
      "a patch that applies and says something else",
      "WORKSPACE_PATCH_ALTERED",
      () => writeFileSync(patch(3), readFileSync(patch(3), "latin1").replace("+3\n", "+4\n"), "latin1"),
    ],
    [
      "a patch that writes outside the tree",
      "WORKSPACE_PATCH_FAILED",
      () =>
        writeFileSync(
          patch(3),
          "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n",
        ),
    ],
  ];

  it.each(TAMPER)("leaves the old workspace as it was: %s", async (_name, code, tamper) => {
    const chain = await threeSteps();
    writeFiles(chain.workspace.path, { "in the works": "x" });
    const before = listFiles(chain.workspace.path);
    const refs = () => git(workspacePaths(outputDir, RUN).store, "for-each-ref");
    const refsBefore = refs();
    tamper();
    expect(await codeOf(workspaces.rebuild(RUN, chain.replay))).toBe(code);
    expect(await codeOf(workspaces.restore(RUN, chain.replay))).toBe(code);
    expect(await workspaces.current(RUN)).toEqual(chain.workspace);
    expect(listFiles(chain.workspace.path)).toEqual(before);
    expect(trees()).toEqual([String(chain.workspace.tree)]);
    expect(refs()).toBe(refsBefore);
  });

  it("refuses a checkpoint with another hash, and one that changes what was taken back", async () => {
    const chain = await threeSteps();
    const [first, second, third] = chain.made;
    const { replay } = chain;
    const other = { ...third!, diff_hash: second!.diff_hash };
    expect(await codeOf(workspaces.rebuild(RUN, { ...replay, checkpoints: [first!, second!, other] }))).toBe(
      "WORKSPACE_PATCH_ALTERED",
    );
    expect(await codeOf(workspaces.rebuild(RUN, { ...replay, checkpoints: [second!, third!] }))).toBe(
      "WORKSPACE_PATCH_FAILED",
    );
  });
});

describe("after a crash", () => {
  it("in the middle of a rebuild, the old workspace answers and the next rebuild clears up", async () => {
    const chain = await threeSteps();
    const before = listTree(chain.workspace.path);
    const paths = workspacePaths(outputDir, RUN);
    await makeTree(new GitProgram("git"), paths, 2, chain.workspace);
    expect(await workspaces.current(RUN)).toEqual(chain.workspace);
    expect(await workspaces.find(RUN, join(paths.trees, "2"))).toBeNull();
    await makeTree(new GitProgram("git"), paths, 3, chain.workspace);
    await completeTree(paths, 3);
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    expect(trees().sort()).toEqual([chain.workspace.tree, candidate.tree].map(String).sort());
    expect(readdirSync(paths.indexes).sort()).toEqual(trees().sort());
    expect(listTree(candidate.path)).toEqual(before);
  });

  it("a candidate is found again by its path, also when the output folder was moved", async () => {
    const chain = await threeSteps();
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    expect(await workspaces.find(RUN, candidate.path)).toEqual(candidate);
    renameSync(outputDir, `${outputDir} moved`);
    const moved = openWorkspaces({ outputDir: `${outputDir} moved` });
    const found = await moved.find(RUN, candidate.path);
    expect(found).toMatchObject({ tree: candidate.tree, commit: candidate.commit });
    expect(await moved.changes(found!, chain.since)).toMatchObject({ diffHash: null });
    expect(git(found!.path, "rev-parse", "HEAD")).toBe(candidate.commit);
    await moved.discard(found!);
    expect(await moved.find(RUN, candidate.path)).toBeNull();
  });

  it("between the move of the pointer and the removal of the old tree, the new one answers", async () => {
    const chain = await threeSteps();
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    const { trees: place } = workspacePaths(outputDir, RUN);
    await workspaces.promote(candidate);
    mkdirSync(join(place, String(chain.workspace.tree)));
    expect(await workspaces.current(RUN)).toEqual(candidate);
    await workspaces.rebuild(RUN, chain.replay);
    expect(trees()).not.toContain(String(chain.workspace.tree));
  });

  it("or a full disk before the pointer moves, the old tree is still there", async () => {
    const chain = await threeSteps();
    const before = listFiles(chain.workspace.path);
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    writeFiles(workspacePaths(outputDir, RUN).home, { ".current.json.tmp/in the way": "x" });
    expect(await codeOf(workspaces.promote(candidate))).not.toBe("no error");
    expect(await workspaces.current(RUN)).toEqual(chain.workspace);
    expect(listFiles(chain.workspace.path)).toEqual(before);
  });

  it("in the middle of the first making, the next one makes it whole", async () => {
    const paths = workspacePaths(outputDir, RUN);
    mkdirSync(`${paths.store}.partial`, { recursive: true });
    writeFiles(paths.trees, { "1.partial/half": "x" });
    expect(await workspaces.current(RUN)).toBeNull();
    const workspace = await workspaces.create(RUN, { repo, ref: "HEAD" });
    expect(listTree(workspace.path)).toEqual(listTree(repo));
    expect(trees()).toEqual([String(workspace.tree)]);
  });

  it("discard does not take the workspace itself", async () => {
    const { workspace } = await begin();
    expect(await codeOf(workspaces.discard(workspace))).toBe("WORKSPACE_BUSY");
    expect(await workspaces.current(RUN)).toEqual(workspace);
  });
});

describe("names and contents that are hard on tools", () => {
  it("come back as they were", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    const names = [
      "-rf",
      "a\nb",
      'quo"te',
      "back\\slash",
      "tab\t",
      " lead",
      "trail ",
      "ünï/日本",
      ":(top)x",
      "git~1",
      "*",
      "a b/.gitkeep",
      "x -> y",
      "{a => b}",
    ];
    writeFiles(path, Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    writeFileSync(Buffer.concat([Buffer.from(`${path}/latin-`), Buffer.from([0xe9])]), "not UTF-8");
    writeFiles(path, { ".gitattributes": "* text=auto eol=crlf ident filter=evil\n*.txt diff=evil\n" });
    writeFiles(path, { "crlf.txt": "a\r\nb\n$Id$\n", "nul.txt": "a\0b", "no-end.txt": "x" });
    symlinkSync("/nowhere/at all", join(path, "dangling"));
    const before = listTree(path);
    await chain.add();
    rmSync(join(path, "-rf"));
    renameSync(join(path, "a\nb"), join(path, "c\nd"));
    const after = listTree(path);
    await chain.add();
    expect(listTree((await workspaces.restore(RUN, chain.replay)).path)).toEqual(after);
    chain.made.length = 1;
    expect(listTree((await workspaces.restore(RUN, chain.replay)).path)).toEqual(before);
  });

  it("and so does whatever a row of steps makes of a few files", async () => {
    const steps = fc.array(fc.array(edit, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
    let run = 100;
    await fc.assert(
      fc.asyncProperty(steps, async (rows) => {
        run += 1;
        const chain = new Chain(workspaces, await workspaces.create(run, { repo, ref: "HEAD" }));
        const { path } = chain.workspace;
        for (const edits of rows) {
          for (const each of edits) tryEdit(path, each);
          await chain.add();
        }
        const candidate = await workspaces.rebuild(run, chain.replay);
        expect(listTree(candidate.path)).toEqual(listTree(path));
        await workspaces.remove(run);
      }),
      { numRuns: Number(process.env.TREE_RUNS ?? 6) },
    );
  });
});
