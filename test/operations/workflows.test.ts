import { describe, expect, it } from "vitest";
import { InvalidWorkflow } from "../../src/file/invalid-workflow.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
/** Comments, odd spacing and the words of seed 003 must all come back as they were. */
const ROUTED = `# release, as the team writes it
name:   routed
steps:
  build:   { type: command, exec: "exit 3" }   # fails
  fallback: { type: command, exec: "echo saved" }
transitions:
  - { from: build, to: fallback, routeOn: failure, priority: 1 }
`;
const version = (word: string): string =>
  `name: versions\nsteps: { a: { type: command, exec: "echo ${word}" } }\n`;

async function publish(name: string, source: string) {
  await bench.call("save_draft", { name, source });
  return bench.call("publish_workflow", { name });
}

describe("validate_workflow", () => {
  it("warns of a channel that the settings do not have, where they are known", { tags: ["N1"] }, async () => {
    const source = "name: told\nnotify: [{ on: held, to: [ops, opps] }]\nsteps: { a: { type: noop } }\n";
    const knows = (...channelNames: string[]) => ({ ...bench.context, channelNames });
    const warned = async (context: typeof bench.context) => {
      const { ok, warnings } = await callIn(context, "validate_workflow", { source });
      return [ok, ...warnings.map(({ code, line, column, message }) => [code, line, column, message])];
    };
    expect(await warned(knows("ops"))).toEqual([
      true,
      ["UNKNOWN_CHANNEL", 2, 32, "there is no channel `opps`, did you mean `ops`?"],
    ]);
    expect(await warned(knows("ops", "opps"))).toEqual([true]);
    const { channelNames: _, ...unknown } = knows();
    expect(await warned(unknown)).toEqual([true]);
    await callIn(knows("ops"), "save_draft", { name: "told", source });
    const published = await callIn(knows("ops"), "publish_workflow", { name: "told" });
    expect(published.warnings).toMatchObject([{ code: "UNKNOWN_CHANNEL", hint: "Rename it to `ops`." }]);
    await bench.call("delete_draft", { name: "told" });
  });

  it("answers with every problem, or with warnings and the worst case", async () => {
    const wrong = await bench.call("validate_workflow", {
      source: "steps:\n  a: { type: command, exce: x }\n",
      file_name: "wrong.yaml",
    });
    expect(wrong.ok).toBe(false);
    expect(wrong.problems.map(({ code, file, line, column }) => [code, file, line, column])).toEqual([
      ["MISSING_KEY", "wrong.yaml", 2, 6],
      ["UNKNOWN_KEY", "wrong.yaml", 2, 23],
    ]);
    const right = await bench.call("validate_workflow", { source: ROUTED });
    expect(right).toMatchObject({
      ok: true,
      name: "routed",
      problems: [],
      worst_case: { restarts_per_visit: 5 },
    });
  });

  it("and the schema and pictures need no run", async () => {
    expect(await bench.call("get_workflow_schema", {})).toMatchObject({ type: "object" });
    const picture = await bench.call("workflow_graph", { source: ROUTED, format: "dot" });
    expect(picture.text).toMatch(/^digraph/);
    const { graph } = await bench.call("workflow_graph", { source: ROUTED, format: "json" });
    expect(graph).toEqual({
      nodes: [
        {
          ...{ name: "n0", step: "build", label: "build", shape: "step", status: null, jobs: null },
          lines: { first: 4, last: 4 },
        },
        {
          ...{ name: "n1", step: "fallback", label: "fallback", shape: "routed", status: null, jobs: null },
          lines: { first: 5, last: 5 },
        },
      ],
      edges: [
        {
          ...{
            id: "transitions[0]",
            from: "n0",
            to: "n1",
            kind: "transition_failure",
            label: "on failure 1",
          },
          ...{ route: null, priority: 1, condition: null, then: "skip", lines: { first: 7, last: 7 } },
        },
      ],
    });
    expect(await refusalOf(bench.call("workflow_graph", {}))).toBe("INVALID_INPUT");
    expect(await refusalOf(bench.call("workflow_graph", { source: ROUTED, workflow: "x" }))).toBe(
      "INVALID_INPUT",
    );
    const { run_id } = await bench.run("steps: { a: { type: noop } }");
    expect((await bench.call("workflow_graph", { run_id })).text).toContain("style n0 fill:#86efac");
  });
});

describe("drafts", () => {
  it("keep a text byte for byte, right or wrong, with one more revision each time", async () => {
    const wrong = "steps: [\r\n\t\u00e9";
    expect(await bench.call("save_draft", { name: "any", source: wrong })).toMatchObject({ revision: 1 });
    expect((await bench.call("get_draft", { name: "any" })).source).toBe(wrong);
    expect(await bench.call("save_draft", { name: "any", source: ROUTED })).toMatchObject({ revision: 2 });
    expect((await bench.call("list_drafts", {})).items).toMatchObject([{ name: "any", revision: 2 }]);
    expect(await bench.call("delete_draft", { name: "any" })).toEqual({ name: "any" });
    expect(await refusalOf(bench.call("get_draft", { name: "any" }))).toBe("DRAFT_NOT_FOUND");
    expect(await refusalOf(bench.call("delete_draft", { name: "any" }))).toBe("DRAFT_NOT_FOUND");
  });

  it("are not saved over what somebody else has saved meanwhile", async () => {
    const save = (based_on: number, source: string) =>
      bench.call("save_draft", { name: "shared", source, based_on });
    expect((await save(0, "one")).revision).toBe(1);
    expect(await refusalOf(save(0, "two"))).toBe("DRAFT_CONFLICT");
    expect((await save(1, "three")).revision).toBe(2);
    expect(await refusalOf(save(1, "four"))).toBe("DRAFT_CONFLICT");
    expect((await bench.call("get_draft", { name: "shared" })).source).toBe("three");
    expect(await refusalOf(bench.call("publish_workflow", { name: "shared", revision: 1 }))).toBe(
      "DRAFT_CONFLICT",
    );
  });

  it("with problems are checked, and refused with all of them when they are published", async () => {
    await bench.call("save_draft", { name: "broken", source: "name: other\nsteps: 7\nextra: 1\n" });
    const check = await bench.call("validate_draft", { name: "broken" });
    expect(check).toMatchObject({ ok: false, name: "broken", revision: 1 });
    const error = await bench.call("publish_workflow", { name: "broken" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidWorkflow);
    expect((error as InvalidWorkflow).problems).toHaveLength(check.problems.length);
    expect(check.problems.length).toBeGreaterThan(1);
    expect((await bench.call("list_workflows", { name: "broken" })).items).toEqual([]);
    await bench.call("save_draft", { name: "broken", source: version("x") });
    expect((await bench.call("validate_draft", { name: "broken" })).problems).toMatchObject([
      { path: "name" },
    ]);
  });
});

describe("publishing", () => {
  it("keeps routeOn through save, load and publish, and runs obey it", { tags: ["A35"] }, async () => {
    await bench.call("save_draft", { name: "routed", source: ROUTED });
    expect(await bench.call("publish_workflow", { name: "routed", revision: 1 })).toMatchObject({
      version: 1,
    });
    const stored = await bench.call("get_workflow", { name: "routed" });
    expect(stored).toMatchObject({ source: ROUTED, published: true, version: 1, versions: [{ version: 1 }] });
    expect(stored.definition).toMatchObject({
      transitions: [{ on: "failure", from: "build", to: "fallback" }],
    });
    expect(stored.graph.edges).toContainEqual(expect.objectContaining({ kind: "transition_failure" }));
    const { run_id, workflow_id } = await bench.call("start_run", { workflow: "routed" });
    expect(workflow_id).toBe(stored.id);
    expect(await bench.settled(run_id)).toMatchObject({
      status: "completed",
      handled_failures: [{ step: "build" }],
    });
    expect((await bench.call("get_draft", { name: "routed" })).source).toBe(ROUTED);
  });

  it("gives a new version each time something has changed, also back to what it was, or only a comment", async () => {
    const versions: number[] = [];
    for (const text of [version("one"), version("two"), version("one"), `# why\n${version("one")}`])
      versions.push((await publish("versions", text)).version);
    expect(versions).toEqual([1, 2, 3, 4]);
    expect((await publish("versions", `# why\n${version("one")}`)).version).toBe(4);
    expect((await bench.call("get_workflow", { name: "versions" })).source).toBe(`# why\n${version("one")}`);
    const newest = await bench.call("start_run", { workflow: "versions" });
    expect(newest.version).toBe(4);
    expect((await bench.settled(newest.run_id)).jobs[0]!.output).toBe("one");
    const second = await bench.call("start_run", { workflow: "versions", version: 2 });
    expect(second.version).toBe(2);
    expect((await bench.settled(second.run_id)).jobs[0]!.output).toBe("two");
    const byId = await bench.call("start_run", { workflow: second.workflow_id });
    expect(byId.version).toBe(2);
  });

  it("is listed by name, and what is not there is told", async () => {
    await publish("listed", "name: listed\nsteps: { a: { type: noop } }");
    const { items } = await bench.call("list_workflows", {});
    expect(items.filter(({ name }) => name === "listed")).toMatchObject([{ version: 1, published: true }]);
    const refused = (input: object): Promise<string> => refusalOf(bench.call("get_workflow", input as never));
    expect(await refused({ name: "listed", version: 9 })).toBe("WORKFLOW_NOT_FOUND");
    expect(await refused({ name: "nobody" })).toBe("WORKFLOW_NOT_FOUND");
    expect(await refused({ name: "999999" })).toBe("WORKFLOW_NOT_FOUND");
  });
});

describe("tokens", () => {
  it("are shown once, kept as a hash, listed and revoked", async () => {
    const made = await bench.call("create_token", { name: "ci", role: "operator", expires_in: "90d" });
    expect(made.token).toMatch(/^drm_[A-Za-z0-9_-]{43}$/);
    expect(Date.parse(made.expires_at!) - Date.parse(made.created_at)).toBe(90 * 86_400_000);
    const other = await bench.call("create_token", { name: "ci", role: "viewer" });
    expect(other.token).not.toBe(made.token);
    const list = await bench.call("list_tokens", {});
    expect(list.items.map(({ id, role, revoked_at }) => [id, role, revoked_at])).toEqual([
      [made.id, "operator", null],
      [other.id, "viewer", null],
    ]);
    expect(JSON.stringify(list)).not.toContain(made.token.slice(4));
    expect(await bench.call("revoke_token", { id: made.id })).toEqual({ id: made.id, revoked: true });
    expect(await bench.call("revoke_token", { id: made.id })).toEqual({ id: made.id, revoked: false });
    expect(await refusalOf(bench.call("revoke_token", { id: 99 }))).toBe("TOKEN_NOT_FOUND");
    const bad = { name: "x", role: "viewer", expires_in: "soon" } as const;
    expect(await refusalOf(bench.call("create_token", bad))).toBe("INVALID_INPUT");
  });
});

describe("list_workers", () => {
  it("says who is there", async () => {
    const { items } = await bench.call("list_workers", {});
    expect(Array.isArray(items)).toBe(true);
  });
});

describe("a text that is edited by a program", () => {
  const text = "name: drawn\nsteps: { a: { type: noop }, b: { type: noop } } # two\n";

  it("gets a transition, says what changed, and keeps its comments", async () => {
    const added = await bench.call("edit_workflow", {
      action: "add",
      source: text,
      from: "a",
      to: "b",
      on: "failure",
    });
    expect(added.source).toBe(`${text}transitions:\n  - { from: a, to: b, on: failure }\n`);
    expect(text.slice(0, added.edit.from) + added.edit.text + text.slice(added.edit.to)).toBe(added.source);
    const changed = await bench.call("edit_workflow", {
      ...{ action: "change", source: added.source, transition: 1, priority: 4 },
      when: { type: "exists", field: "error.code" },
    });
    const checked = await bench.call("validate_workflow", { source: changed.source, graph: true });
    expect(checked.graph!.edges).toMatchObject([
      {
        kind: "transition_failure",
        priority: 4,
        condition: "exists error.code",
        lines: { first: 4, last: 4 },
      },
    ]);
    const removed = await bench.call("edit_workflow", {
      action: "remove",
      source: changed.source,
      transition: 1,
    });
    expect(removed.source).toBe(text);
  });

  it("needs both ends to add one, and a number for the rest", async () => {
    const ask = (more: object) => bench.call("edit_workflow", { source: text, action: "add", ...more });
    expect(await refusalOf(ask({ from: "a" }))).toBe("INVALID_INPUT");
    expect(await refusalOf(ask({ from: "a", to: "b", transition: 1 }))).toBe("INVALID_INPUT");
    expect(await refusalOf(ask({ action: "remove" }))).toBe("INVALID_INPUT");
    expect(await refusalOf(ask({ action: "remove", transition: 1, from: "a" }))).toBe("INVALID_INPUT");
  });
});

describe("two versions of a workflow", () => {
  it("are compared by step and by line, and so is the draft, also one with problems", async () => {
    const save = (steps: string) =>
      bench.call("save_draft", { name: "compared", source: `name: compared\n# same\nsteps:\n${steps}` });
    await save("  a: { exec: one }\n  b: { exec: b }\n");
    await bench.call("publish_workflow", { name: "compared" });
    await save("  a: { exec: two }\n  c: { exec: c }\n");
    await bench.call("publish_workflow", { name: "compared" });
    const compared = await bench.call("compare_versions", { name: "compared", from: 1, to: 2 });
    expect(compared.definition!.steps).toEqual([
      { step: "a", change: "changed", keys: ["exec"] },
      { step: "c", change: "added", keys: [] },
      { step: "b", change: "removed", keys: [] },
    ]);
    expect(compared.lines!.filter(({ kind }) => kind !== "same").map(({ text }) => text.trim())).toEqual([
      "a: { exec: one }",
      "b: { exec: b }",
      "a: { exec: two }",
      "c: { exec: c }",
    ]);
    await save("  a: { exek: two }\n");
    const draft = await bench.call("compare_versions", { name: "compared" });
    expect(draft).toMatchObject({ from: 2, to: "draft", definition: null });
    expect(draft.lines!.filter(({ kind }) => kind !== "same")).toHaveLength(3);
  });
});

describe("the text of a run", () => {
  it("is kept, with the lines of its steps and edges, and is no version that somebody published", async () => {
    const text = ROUTED.replace("routed", "kept");
    const { run_id } = await bench.run(text);
    expect((await bench.call("get_run_definition", { run_id })).text).toBe(text);
    const stored = await bench.call("get_workflow", { name: "kept" });
    expect([stored.source, stored.text, stored.published]).toEqual([null, text, false]);
    for (const asked of [{ run_id }, { run_id, at: 1 }, { workflow: "kept" }]) {
      const { graph } = await bench.call("workflow_graph", { ...asked, format: "json" });
      expect(graph!.nodes.map(({ step, lines }) => [step, lines?.first])).toEqual([
        ["build", 4],
        ["fallback", 5],
      ]);
      expect(graph!.edges.map(({ id, lines }) => [id, lines?.first])).toEqual([["transitions[0]", 7]]);
    }
  });

  it("gives way to the one that is published from the same definition", async () => {
    const text = ROUTED.replace("routed", "twice");
    const { run_id } = await bench.run(text);
    await publish("twice", `# one line more\n${text}`);
    expect((await bench.call("get_run_definition", { run_id })).text).toBe(`# one line more\n${text}`);
    const { graph } = await bench.call("workflow_graph", { run_id, format: "json" });
    expect(graph!.nodes[0]!.lines).toEqual({ first: 5, last: 5 });
  });
});
