/** For each chosen target of a Makefile, the other chosen ones that it waits for. */
export type TargetEdges = ReadonlyMap<string, readonly string[]>;

/** Prerequisites by target. Some may be variables. */
type Rules = ReadonlyMap<string, ReadonlySet<string>>;

export function targetsOf(text: string): Rules {
  const rules = new Map<string, Set<string>>();
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const [, targets, needs] = /^([^\s#:=][^#:=]*?)\s*::?(?![:=])([^#;]*)/.exec(line) ?? [];
    if (targets === undefined || /^\.[A-Z]/.test(targets)) continue;
    for (const target of targets.split(/\s+/)) {
      const known = rules.get(target) ?? new Set();
      for (const need of needs!.split(/[\s|]+/)) if (need !== "") known.add(need);
      rules.set(target, known);
    }
  }
  return rules;
}

/**
 * The dependencies among the chosen targets, including those through other targets. Two that share such a target run
 * one after the other, because two processes of make would otherwise build it at the same time.
 */
export function edgesAmong(wanted: readonly string[], rules: Rules): TargetEdges {
  const edges = new Map<string, string[]>();
  const reaches = (from: string, to: string): boolean =>
    (edges.get(from) ?? []).some((next) => next === to || reaches(next, to));
  const add = (from: string, to: string): void => {
    // A cycle is dropped, as make does.
    if (from !== to && !reaches(to, from) && !reaches(from, to))
      edges.set(from, [...(edges.get(from) ?? []), to]);
  };
  const needs = new Map(wanted.map((target) => [target, neededBy(target, rules, new Set(wanted))]));
  for (const target of wanted)
    for (const other of wanted) if (needs.get(target)!.has(other)) add(target, other);
  for (const [at, target] of wanted.entries())
    for (const other of wanted.slice(0, at))
      if ([...needs.get(target)!].some((need) => needs.get(other)!.has(need) && !wanted.includes(need)))
        add(target, other);
  return edges;
}

/** Everything that a target needs, down to the chosen ones. */
function neededBy(target: string, rules: Rules, wanted: ReadonlySet<string>): ReadonlySet<string> {
  const needed = new Set<string>();
  const agenda = [...(rules.get(target) ?? [])];
  for (let need = agenda.pop(); need !== undefined; need = agenda.pop()) {
    if (needed.has(need)) continue;
    needed.add(need);
    if (!wanted.has(need)) agenda.push(...(rules.get(need) ?? []));
  }
  return needed;
}
