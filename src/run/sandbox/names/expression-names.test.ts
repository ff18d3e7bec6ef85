import { describe, expect, it } from "vitest";
import { namesInExpression } from "./expression-names.js";

/** `name.member@offset` for each read. The offset is that of the last part. */
function readsOf(code: string): string[] | undefined {
  return namesInExpression(code)?.reads.map(({ path, asked }) => {
    const words = path.map(({ name }) => name).join(".");
    return `${words}@${path.at(-1)?.at}${asked ? " asked" : ""}`;
  });
}

describe("the names that an expression reads", () => {
  it.each<[string, string[]]>([
    ["a", ["a@0"]],
    ["return a", ["a@7"]],
    ["a.b.c", ["a.b.c@4"]],
    ["a['b'][`c`][0].d[e].f", ["a.b.c.0.d@15", "e@17"]],
    ["a.b()(c)", ["a.b@2", "c@6"]],
    ["\n  a\n    .b", ["a.b@10"]],
    ["{ a: b, c, [d]: e, f() { return g } }", ["b@5", "c@8", "d@12", "e@16", "g@32"]],
    [`\`\${a} b\``, ["a@3"]],
    ["x => x.y", []],
    ["({ a, b: [c], ...d }) => a + b + c + d", ["b@29"]],
    ["(a = b) => a", ["b@5"]],
    ["let a = 1; const [b, , c = d] = e; return a + b + c", ["d@27", "e@32"]],
    ["{ var a; } return a", []],
    ["function f(n) { return n ? f(n - 1) : g } return f(2)", ["g@38"]],
    ["const f = function self() { return self }; return f", []],
    ["class A { x = b; [c]() {} #p = 1; static q() { return new A() } } return A", ["b@14", "c@18"]],
    ["try { a() } catch ({ message }) { return message }", ["a@6"]],
    ["try { a() } catch { return 1 }", ["a@6"]],
    ["here: for (const x of xs) { continue here }", ["xs@22"]],
    ["for (let i = 0; i < n; i++) {} return 1", ["n@20"]],
    ["a = 1", ["a@0"]],
    ["({ a: b.c } = d); return 1", ["b.c@8", "d.a@3"]],
    ["return ({ a: b.c } = d)", ["b.c@15", "d@21"]],
    ["typeof a", ["a@7"]],
    ["new.target", []],
    ["a?.b", ["a.b@3"]],
    ["a.b?.c", ["a.b.c@5 asked"]],
    ["a.b?.[c]", ["a.b@2 asked", "c@6"]],
    ["a.b.c?.d", ["a.b.c.d@7"]],
    ["a.b ?? 1", ["a.b@2 asked"]],
    ["1 ?? a.b", ["a.b@7"]],
    ["a.b || 1", ["a.b@2 asked"]],
    ["1 || a.b", ["a.b@7"]],
    ["!a.b", ["a.b@3 asked"]],
    ["-a.b", ["a.b@3"]],
    ["typeof a.b", ["a.b@9 asked"]],
    ["a.b !== undefined", ["a.b@2 asked", "undefined@8"]],
    ["null == a.b", ["a.b@10 asked"]],
    ["a.b === 1", ["a.b@2"]],
    ["a.b ? 1 : a.c", ["a.b@2 asked", "a.c@12"]],
    ["if (a.b) return 1", ["a.b@6 asked"]],
    ["a.b.c && 1", ["a.b.c@4"]],
    ["const { b, c: d = 1 } = a; return b + d", ["a.b@8", "a.c@11 asked"]],
    ["const { b: { c } } = a; return c", ["a.b@8"]],
    ["const { x } = a.b; return x", ["a.b.x@8"]],
  ])("%s", (code, reads) => {
    expect(readsOf(code)).toEqual(reads);
  });

  it("are unknown where the code is wrong or nested too deeply", () => {
    expect(namesInExpression("a +")).toBeNull();
    expect(namesInExpression(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)).toBeNull();
  });

  it("leave out what is declared anywhere in the code, and tell that it is", () => {
    const names = namesInExpression("const f = (error) => error.x; return f(error)");
    expect(names?.reads).toEqual([]);
    expect([...(names?.declared ?? [])]).toEqual(["f", "error"]);
  });

  it("may be more than are written where the global object is used", () => {
    expect(namesInExpression("globalThis.x")?.hidden).toBe(true);
    expect(namesInExpression("a.globalThis")?.hidden).toBe(false);
  });

  it("come with the texts in it", () => {
    expect(namesInExpression(`error.code === 'X' ? ["build", \`b\${1}\`] : null`)?.literals).toEqual([
      "X",
      "build",
    ]);
  });
});
