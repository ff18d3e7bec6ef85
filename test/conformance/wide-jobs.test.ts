import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";

const small = (count: number, runtime = ""): string =>
  Array.from({ length: count }, (_, at) => `  s${at}: { exec: make${runtime} }`).join("\n");
const takes = (takesMs: number) => ({ output: null, takesMs });
/** Each small step starts the next when it ends, so that there is always one that is ready. */
const chain = (name: string, length: number, more = ""): string =>
  Array.from(
    { length },
    (_, at) => `  ${name}${at}: { exec: make${at === 0 ? "" : `, depends_on: ${name}${at - 1}`}${more} }`,
  ).join("\n");
const RUNTIME = ", resource_requirements: { runtime: 1s }";

describe("a step that asks for several processors", () => {
  it("begins as soon as what ran before it has ended, however many small ones are ready", async () => {
    // Three chains of small steps keep all four slots but one busy for ever, were `wide` not first in line.
    const script = Object.fromEntries(
      ["a", "b", "c"].flatMap((name, chainAt) =>
        Array.from({ length: 6 }, (_, at) => [`${name}${at}`, [takes(100 + chainAt * 30)]]),
      ),
    );
    const run = await trial(
      `steps:\n${chain("a", 6)}\n${chain("b", 6)}\n${chain("c", 6)}\n  wide: { exec: make, resource_requirements: { num_cpus: 3 } }`,
      { ...script, wide: [takes(10)] },
      { capacity: 4 },
    );
    expect(run.order.slice(0, 4)).toEqual(["a0", "b0", "c0", "wide"]);
    expect(run.run.status).toBe("completed");
  });

  it("lets those go ahead that are over before it can begin", async () => {
    const run = await trial(
      `steps:
  long: { exec: make, resource_requirements: { num_cpus: 3, runtime: 10s } }
  wide: { exec: make, resource_requirements: { num_cpus: 4 } }
  brief: { exec: make, resource_requirements: { runtime: 4s } }
  second: { exec: make, depends_on: brief, resource_requirements: { runtime: 4s } }
  late: { exec: make, depends_on: second, resource_requirements: { runtime: 4s } }`,
      {
        long: [takes(10_000)],
        brief: [takes(4_000)],
        second: [takes(4_000)],
        late: [takes(1)],
        wide: [takes(1)],
      },
      { capacity: 4 },
    );
    expect(run.order).toEqual(["long", "brief", "second", "wide", "late"]);
  });

  it("keeps others from starting where nobody knows how long they take", async () => {
    const run = await trial(
      `steps:
  long: { exec: make, resource_requirements: { num_cpus: 3 } }
  wide: { exec: make, resource_requirements: { num_cpus: 4 } }
${small(3, RUNTIME)}`,
      { long: [takes(10_000)], wide: [takes(1)] },
      { capacity: 4 },
    );
    expect(run.order).toEqual(["long", "wide", "s0", "s1", "s2"]);
  });

  it("runs alone where it asks for more than there are", async () => {
    const run = await trial(
      `steps:\n  first: { exec: make }\n  wide: { exec: make, resource_requirements: { num_cpus: 9 } }\n${small(2)}`,
      { first: [takes(50)], wide: [takes(50)] },
      { capacity: 2 },
    );
    expect(run.order).toEqual(["first", "wide", "s0", "s1"]);
  });
});
