import { afterAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/core/text/json.js";
import { createSandbox } from "../../src/run/sandbox/quickjs-sandbox.js";
import { type Rendering, renderInPlace } from "../../src/run/sandbox/render-step.js";
import { LiveServers } from "../support/live-server.js";

const sandbox = createSandbox();
afterAll(() => sandbox.close());
const servers = new LiveServers();

function texts(json: Json, variables: Rendering["variables"] = {}): Rendering {
  return { variables, env: {}, trees: [{ json, as: "text" }] };
}

const DOUBLING = `{% assign a = "0123456789" %}${"{% capture a %}{{ a }}{{ a }}{% endcapture %}".repeat(24)}{{ a }}`;
const LOOP = "{% for i in (1..700000) %}{% endfor %}";

describe("templates are rendered in place only where that is cheap for certain", () => {
  it.each<[string, Json, boolean]>([
    ["none at all", ["a", { b: "c" }], true],
    ["variables", "{{ inputs.a }} {{- outputs.b[0].c | sh -}} {{ x | default: 'no' | upcase }}", true],
    ["a question", "{%- if a == 'x' -%}b{% elsif inputs.a %}{{ a }}{% else %}c.. {% endif %}", true],
    ["very many questions", "{% if a %}{% endif %}".repeat(40), false],
    ["a question about a range", "{% if (1..9) contains a %}b{% endif %}", false],
    ["a loop", "{% for i in a %}{{ i }}{% endfor %}", false],
    ["capture", "{% capture b %}{{ a }}{% endcapture %}", false],
    ["a filter that multiplies", "{{ a | replace: '', a }}", false],
    ["a range", "{{ (1..9) }}", false],
    ["very many", Array.from({ length: 40_000 }, (_, n) => `{{ a }}${n}`), false],
  ])("%s", (_, json, inPlace) => {
    const variables = { inputs: { a: 1 }, outputs: { b: [{ c: 2 }] }, x: null, a: "" };
    expect(renderInPlace(texts(json, variables)) !== null).toBe(inPlace);
  });

  it("what prints more than expected is left to a thread", () => {
    const variables = { big: "x".repeat(300_000) };
    expect(renderInPlace(texts("{{ big }}", variables))).toBeNull();
    expect(renderInPlace(texts(["{{ s }}", "{{ s }}"], { s: "x".repeat(100_000) }))).toBeNull();
    // Neither may be done again and again for the few characters that are printed.
    for (const filter of ["sh", "json", "upcase"])
      expect(renderInPlace(texts(`{{ big | ${filter} | size }}`, variables))).toBeNull();
  });
});

describe("the templates of a step in the sandbox", () => {
  it("are rendered as in place", async () => {
    const rendering: Rendering = {
      variables: { n: 2, env: { A: "{{ n }}", B: "{{ nothing }}", C: "c" } },
      env: { A: "{{ n }}", B: "{{ nothing }}" },
      trees: [
        { json: { list: ["{% if n > 1 %}many{% endif %}", 7] }, as: "text" },
        { json: ["{{ n }}", "{{ env.A }}{{ env.B }}{{ env.C }}"], as: "value" },
      ],
    };
    expect(await sandbox.render(rendering)).toMatchObject({
      ok: true,
      value: { env: { A: "2", B: "{{ nothing }}" }, trees: [{ list: ["many", 7] }, [2, "2{{ nothing }}c"]] },
    });
  });

  it.each<[string, Json]>([
    ["capture", DOUBLING],
    ["loops in many texts", Array.from({ length: 60 }, () => LOOP)],
    ["text between tags, repeated", `{% for i in (1..10000000) %}${"x".repeat(1_000)}{% endfor %}`],
    ["a filter that multiplies", "{{ big | replace: '', big }}"],
  ])("are refused where they take too much: %s", async (_, json) => {
    const result = await sandbox.render(texts(json, { big: "x".repeat(1_000_000) }));
    expect(result).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/limit exceeded|too much memory|stopped after|string length/),
    });
    // The next one has a thread again.
    expect(await sandbox.render(texts("{% if true %}fine{% endif %}"))).toMatchObject({ ok: true });
  });
});

describe("a server with a step whose templates take too much", () => {
  it("answers while they are rendered, and fails that step only", async () => {
    const server = await servers.start();
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`K${n}`, LOOP]));
    const hostile = await server.run(`name: hostile
steps:
  doubling: { type: noop, env: { A: ${JSON.stringify(DOUBLING)} } }
  loops: { type: command, exec: "true", env: ${JSON.stringify(many)} }`);
    const other = await server.run("name: other\nsteps: { only: { type: command, exec: 'true' } }");
    // A whole run of somebody else's comes to its end, and the server answers, whatever becomes of the first.
    expect(await server.until(other, "completed", "failed")).toBe("completed");
    expect((await server.ask("GET", "/healthz")).status).toBe(200);
    expect(await server.until(hostile, "completed", "failed")).toBe("failed");
    const { body } = await server.ask<{ error: { code: string } }>("GET", `/api/v1/runs/${hostile}`);
    expect(body.error.code).toBe("TEMPLATE_ERROR");
  });
});
