import { describe, expect, it } from "vitest";
import { NOT_TRIAGED, sumRows } from "../../src/core/book/book.js";
import { DAY, MINUTE, Town } from "../support/notice-town.js";

const refused = { exit: 7, stderr: "connect ECONNREFUSED 10.0.0.1:443" };
const other = { exit: 2, stderr: "module not found" };

const HOLD = `name: pay
unhandled: hold
notify:
  - { on: [held, failed, recovered], to: ops }
steps: { call: { type: noop } }
`;

describe("notifications of jobs that the file writes as one step", () => {
  it("tell once of the items of a fan-out step, whatever they failed of, and that it works again when none waits", async () => {
    const town = new Town();
    town.serve();
    const fan = HOLD.replace("{ call: { type: noop } }", "").replace(
      "steps:",
      'steps:\n  list: { type: noop, forEach: true }\n  call: { exec: "x {{ foreach.index }}", depends_on: [list] }',
    );
    const list = [{ output: ["a", "b", "c"] }];
    const runId = await town.run(fan, {
      list,
      call: ({ variables }) => ((variables.foreach as { index: number }).index === 1 ? other : refused),
    });
    expect(await town.tells()).toEqual([`ops: held of run ${runId}, first 1`]);
    expect(await town.states()).toEqual(["held delivered", "held counted", "held counted"]);
    // The step works in another run, and one item still waits.
    await town.decide(runId, "skip");
    await town.decide(runId, "skip");
    await (await town.pass(MINUTE)).run(fan, { list, call: ["ok"] });
    await town.pass(2 * MINUTE);
    expect(await town.tells()).toEqual([]);
    await town.decide(runId, "skip");
    await town.pass(2 * MINUTE);
    expect(await town.tells()).toEqual([expect.stringMatching(/^ops: recovered of run \d+, recovered 3$/)]);
  });

  it("tell once of the jobs that one job of the batch form makes, as of items, and of another job by itself", async () => {
    const town = new Town();
    town.serve();
    const sweep = HOLD.replace("unhandled: hold\n", "").replace(
      "steps: { call: { type: noop } }",
      'jobs:\n  - { name: "call_{i}", parameters: { i: "1:3" }, command: x }\n  - { name: last, command: x }',
    );
    const later = { ...refused, takesMs: 1_000 };
    const runId = await town.run(sweep, {
      call_1: [later],
      call_2: [later],
      call_3: [other],
      last: [refused],
    });
    expect(await town.tells()).toEqual([1, 2].map(() => `ops: held of run ${runId}, first 1`));
    expect(await town.states()).toEqual(["held delivered", "held delivered", "held counted", "held counted"]);
    // It works in another run, and of the first run one still waits that failed otherwise than the last.
    for (const _ of [1, 2]) await town.decide(runId, "skip");
    await (await town.pass(MINUTE)).run(sweep, {});
    await town.pass(2 * MINUTE);
    expect(await town.tells()).toEqual([]);
    await town.decide(runId, "skip");
    await town.pass(2 * MINUTE);
    expect(await town.tells()).toEqual([expect.stringMatching(/^ops: recovered of run \d+, recovered 3$/)]);
    expect(town.received.at(-1)).toMatchObject({ facts: { family: "call_{i}" } });
  });

  it("hear nothing more of jobs of one family once people have muted their failure", async () => {
    const town = new Town();
    const sweep = HOLD.replace("unhandled: hold\n", "").replace(
      "steps: { call: { type: noop } }",
      'jobs: [{ name: "call_{i}", parameters: { i: "1:2" }, command: x }]',
    );
    await town.run(sweep, { call_1: [refused], call_2: [refused] });
    const [row] = await town.store.listUnrolled(null, 1);
    const entry = [...sumRows(new Map(), [row!]).values()][0]!;
    await town.store.writeTriage(entry, {
      ...NOT_TRIAGED,
      triage: "muted",
      muted_until: town.clock.now() + DAY,
    });
    town.serve();
    expect(await town.tells()).toEqual([]);
    expect(await town.states()).toEqual(["held counted", "held counted"]);
  });
});
