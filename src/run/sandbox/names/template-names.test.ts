import { describe, expect, it } from "vitest";
import { namesInTemplate } from "./template-names.js";

const pathOf = ({ path }: { readonly path: readonly { readonly name: string }[] }) =>
  path.map(({ name }) => name).join(".");

/** `name.member@offset` for each read. The offset is that of the last part. */
function readsOf(text: string): string[] | undefined {
  return namesInTemplate(text)?.reads.map(
    (read) => `${pathOf(read)}@${read.path.at(-1)?.at}${read.asked ? " asked" : ""}`,
  );
}

describe("the names that a template reads", () => {
  it.each<[string, string[]]>([
    ["{{ a }}", ["a@3"]],
    ["x\n{{ a.b-c['d e'][0].f }}", ["a.b-c.d e.0.f@21"]],
    ["{{ a[b.c].d }}", ["b.c@7", "a@3"]],
    ["{{ ['a'].b }}", ["a.b@9"]],
    ["{{ 'a' }}{{ 1 }}{{ true }}{{ nil }}{{ empty }}{{ 'x'.size }}", []],
    ["{{ a | default: b | append: c, d: e }}", ["a@3 asked", "b@16", "c@28", "e@34"]],
    ["{{ a | upcase | default: b }}", ["a@3", "b@25"]],
    ["{% if a and b contains 'x' %}{{ c }}{% endif %}", ["a@6 asked", "b@12 asked", "c@32 asked"]],
    ["{% unless a %}{{ b }}{% endunless %}", ["a@10 asked", "b@17 asked"]],
    ["{% assign v = a.b | upcase %}{{ v.c }}", ["a.b@16 asked"]],
    ["{{ v }}{% assign v = 1 %}", []],
    ["{% capture v %}{{ a }}{% endcapture %}{{ v }}", ["a@18"]],
    ["{% increment v %}{{ v }}{% decrement w %}{{ w }}", []],
    ["{% for x in a.b offset: continue %}{{ x.y }}{{ forloop.index }}{% endfor %}", ["a.b@14"]],
    ["{% for x in (1..n) %}{{ x }}{% endfor %}", ["n@16"]],
    ["{% tablerow x in a cols: n %}{{ x }}{{ tablerowloop.col }}{% endtablerow %}", ["a@17", "n@25"]],
    [
      "{% case a %}{% when b %}{{ c }}{% else %}{{ d }}{% endcase %}",
      ["a@8 asked", "b@20 asked", "c@27 asked", "d@44 asked"],
    ],
    ["{% cycle g: a, 'x' %}{% echo b | default: 1 %}", ["a@12", "g@9", "b@29 asked"]],
    ["{% liquid\n assign v = a\n echo v\n%}", ["a@22 asked"]],
    ["{% comment %}{{ a }}{% endcomment %}{% raw %}{{ b }}{% endraw %}{% # c %}", []],
  ])("%s", (text, reads) => {
    expect(readsOf(text)).toEqual(reads);
  });

  it("are unknown where it does not parse", () => {
    expect(namesInTemplate("{{ a")).toBeNull();
  });

  it("may be more than are written where a variable or an expression is computed", () => {
    expect(namesInTemplate("{{ [a].b }}")?.hidden).toBe(true);
    expect(namesInTemplate(`{{ a | find_exp: "x", "x == b" }}`)?.hidden).toBe(true);
    expect(namesInTemplate("{{ a[b] }}")?.hidden).toBe(false);
  });
});

describe("what a template prints", () => {
  const printsOf = (text: string) =>
    namesInTemplate(text)?.prints.map(({ from, to, filters, reads }) =>
      [`${from}-${to}`, ...filters.filter((name) => /^\w+$/.test(name)), ...reads.map(pathOf)].join(" "),
    );

  it.each<[string, string[]]>([
    ["a {{ b.c | sh }} d", ["2-16 sh b.c"]],
    ["{{ 'x' | append: a }}{{ 1 }}", ["0-21 append a", "21-28"]],
    ["{% echo a | sh %}{% cycle a, 'x' %}", ["0-17 sh a", "17-35 a", "17-35"]],
    ["{% if a %}{{ b }}{% endif %}", ["10-17 b"]],
    ["{% assign v = a | sh %}{{ v }}{% assign w = 1 %}{{ w }}", ["23-30", "48-55"]],
    ["{% assign v = a | sh %}{% assign v = a %}{{ v }}", ["41-48 v"]],
    ["{% capture v %}{{ a }}{% endcapture %}{{ v }}", ["15-22 a", "38-45"]],
    ["{% for x in a %}{{ x }}{{ forloop.index }}{% endfor %}", ["16-23 x", "23-42"]],
  ])("%s", (text, prints) => {
    expect(printsOf(text)).toEqual(prints);
  });
});
