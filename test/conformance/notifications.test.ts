import { describe, expect, it } from "vitest";
import type { NotifyRule } from "../../src/core/model/definition.js";
import { Engine } from "../../src/run/engine/engine.js";
import { enginePorts, workflow } from "../support/harness.js";
import { DAY, HOUR, MINUTE, Town } from "../support/notice-town.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { ScriptedWorker } from "../support/scripted-worker.js";

const ALL = "[held, failed, dead_letter, question, recovered, deadline]";
const refused = { exit: 7, stderr: "connect ECONNREFUSED 10.0.0.1:443" };
const other = { exit: 2, stderr: "module not found" };

const HOLD = `name: pay\nunhandled: hold\nnotify:\n  - { on: ${ALL}, to: ops }\nsteps: { call: { type: noop } }\n`;
const FAIL = `name: pay\nnotify:\n  - { on: ${ALL}, to: ops }\nsteps: { call: { type: noop } }\n`;
const FAIL_QUIETLY = `name: pay\nsteps: { call: { type: noop } }\n`;

describe("notifications", () => {
  it("cost a run nothing that has no rules", { tags: ["N2"] }, async () => {
    const town = new Town();
    await town.run(FAIL_QUIETLY, ["fail"]);
    expect(await town.states()).toEqual([]);
  });

  it("come with the commit of their cause, and wait for a process that has the channel", {
    tags: ["N2"],
  }, async () => {
    const town = new Town();
    const runId = await town.run(HOLD, [refused]);
    expect(await town.states()).toEqual(["held new"]);
    const [notice] = await town.store.listNotices({ limit: 1 });
    expect(notice).toMatchObject({
      ...{ kind: "held", channel: "ops", run_id: runId, workflow: "pay", step: "call", condition: null },
      facts: { code: "EXIT_7", lines: ["connect ECONNREFUSED 10.0.0.1:443"], attempt: 1, held: 1 },
    });
    town.serve(["mail"]);
    expect(await town.tells()).toEqual([]);
    town.serve(["ops"]);
    expect(await town.tells()).toEqual([`ops: held of run ${runId}, first 1`]);
    expect(await town.states()).toEqual(["held delivered"]);
  });

  const ENDS = "name: pay\nnotify:\n  - { on: [completed, handled], to: ops }\n";

  it("say that a run completed, and apart from that, that a failure in it was handled", {
    tags: ["N2"],
  }, async () => {
    const town = new Town();
    town.serve();
    for (const run of [1, 2]) {
      await town.run(`${ENDS}steps: { call: { type: noop } }\n`, ["ok"]);
      expect(await town.tells()).toEqual([`ops: completed of run ${run}, first 1`]);
    }
    await town.run(`${ENDS}steps: { call: { type: noop, continue_on_failure: true } }\n`, [refused]);
    expect(await town.tells()).toEqual(["ops: handled of run 3, first 1"]);
    const [notice] = await town.store.listNotices({ limit: 1 });
    expect(notice).toMatchObject({ kind: "handled", step: "call", facts: { code: "EXIT_7", attempt: 1 } });
    await town.run(FAIL.replace("deadline]", "completed, handled]"), ["fail"]);
    expect(await town.tells()).toEqual(["ops: failed of run 4, first 1"]);
  });

  it("say when a hold expires, and what then", { tags: ["N2"] }, async () => {
    const town = new Town();
    await town.run(HOLD.replace("steps:", "hold: { expires: 4h, then: skip }\nsteps:"), [refused]);
    await town.run(HOLD, [refused]);
    const notices = await town.store.listNotices({ limit: 2 });
    const byRun = new Map(notices.map(({ run_id, facts }) => [run_id, facts.expiry]));
    const { at, ...then } = byRun.get(1)!;
    expect([then, Date.parse(at) - notices.find(({ run_id }) => run_id === 1)!.at]).toEqual([
      { action: "skip", choice: null },
      4 * HOUR,
    ]);
    expect(byRun.get(2)).toBeUndefined();
  });

  it("are told at the 1st and 10th run that fails alike, apart from other failures, and not before", {
    tags: ["N3"],
  }, async () => {
    const town = new Town();
    town.serve();
    const told: string[] = [];
    for (let n = 0; n < 11; n += 1) {
      await town.run(FAIL, [refused]);
      told.push(...(await town.tells()));
    }
    expect(told).toEqual(["ops: failed of run 1, first 1", "ops: failed of run 10, again 10"]);
    await town.run(FAIL, [other]);
    expect(await town.tells()).toEqual(["ops: failed of run 12, first 1"]);
  });

  it("tell once of a failure that is held, decided and then fails its run", { tags: ["N3"] }, async () => {
    const town = new Town();
    town.serve();
    const runId = await town.run(HOLD, [refused]);
    expect(await town.tells()).toEqual([`ops: held of run ${runId}, first 1`]);
    await town.decide(runId, "fail");
    await town.run(HOLD, [refused]);
    expect(await town.tells()).toEqual([]);
  });

  it("say of a failed run whether it was undone", { tags: ["N2"] }, async () => {
    const town = new Town();
    const undoing = FAIL.replace(
      "steps: {",
      "steps: { first: { type: noop, undo: back }, back: { type: noop },",
    );
    await town.run(undoing.replace("call: { type: noop }", "call: { type: noop, depends_on: [first] }"), [
      refused,
    ]);
    await town.run(FAIL, [other]);
    const notices = await town.store.listNotices({ limit: 10 });
    expect(notices.map(({ run_id, facts }) => [run_id, facts.undone]).sort()).toEqual([
      [1, true],
      [2, undefined],
    ]);
  });

  it("remind daily while somebody is waited for, and no longer", { tags: ["N4"] }, async () => {
    const town = new Town();
    town.serve();
    const runId = await town.run(HOLD, [refused]);
    expect(await town.tells()).toEqual([`ops: held of run ${runId}, first 1`]);
    await town.pass(DAY - HOUR);
    expect(await town.tells()).toEqual([]);
    await town.pass(2 * HOUR);
    expect(await town.tells()).toEqual([`ops: held of run ${runId}, reminder 1`]);
    await town.pass(2 * DAY);
    expect(await town.tells()).toHaveLength(2);
    await town.decide(runId, "skip");
    await town.pass(3 * DAY);
    expect(await town.tells()).toEqual([]);
  });

  it("tell that a step works again, once nothing of it waits, and then of its next failure at once", {
    tags: ["N5"],
  }, async () => {
    const town = new Town();
    town.serve();
    const held = await town.run(HOLD, [refused]);
    await town.run(HOLD, [refused]);
    expect(await town.tells()).toEqual([`ops: held of run ${held}, first 1`]);
    await town.pass(MINUTE);
    await town.run(HOLD, ["ok"]);
    await town.pass(MINUTE);
    // Two runs still wait for a decision.
    expect(await town.tells()).toEqual([]);
    await town.decide(1, "skip");
    await town.pass(MINUTE);
    expect(await town.tells()).toEqual([]);
    await town.decide(2, "skip");
    await town.pass(MINUTE);
    expect(await town.tells()).toEqual(["ops: recovered of run 2, recovered 2"]);
    await town.run(HOLD, [refused]);
    expect(await town.tells()).toEqual(["ops: held of run 4, first 1"]);
  });

  it("do not take a success for a recovery that began before the last failure", {
    tags: ["N5"],
  }, async () => {
    const town = new Town();
    town.serve();
    await town.run(FAIL, ["ok"]);
    await town.pass(MINUTE);
    await town.run(FAIL, [refused]);
    expect(await town.tells()).toEqual(["ops: failed of run 2, first 1"]);
    await town.pass(10 * MINUTE);
    expect(await town.tells()).toEqual([]);
  });

  it("end an episode without a word where no rule has `recovered`", { tags: ["N5"] }, async () => {
    const town = new Town([{ on: ["failed"], to: ["ops"], when: null }]);
    town.serve();
    await town.run(FAIL_QUIETLY, [refused]);
    await town.pass(MINUTE);
    await town.run(FAIL_QUIETLY, ["ok"]);
    await town.pass(MINUTE);
    await town.run(FAIL_QUIETLY, [refused]);
    expect(await town.tells()).toEqual(["ops: failed of run 1, first 1", "ops: failed of run 3, first 1"]);
  });

  it("forget an episode after seven quiet days", { tags: ["N4"] }, async () => {
    const town = new Town();
    town.serve();
    await town.run(FAIL, [refused]);
    await town.pass(6 * DAY);
    await town.run(FAIL, [refused]);
    expect(await town.tells()).toEqual(["ops: failed of run 1, first 1"]);
    await town.pass(7 * DAY + HOUR);
    expect((await town.store.readShared("episode", null, 0)).rows).toEqual([]);
    await town.run(FAIL, [refused]);
    expect(await town.tells()).toEqual(["ops: failed of run 3, first 1"]);
  });

  it("tell of a question, of time limits and of dead letters", { tags: ["N1"] }, async () => {
    const town = new Town([{ on: ["question", "deadline", "dead_letter"], to: ["ops"], when: null }]);
    town.serve();
    const asks = "steps: { ask: { type: human, prompt: ship it?, choices: [yes, no] } }\n";
    await town.run(`name: ask\n${asks}`, []);
    const slow = "name: slow\nwarn_after: 2s\ndeadline: 4s\nsteps: { call: { type: noop } }\n";
    await town.run(slow, [{ output: null, takesMs: 60_000 }]);
    const queued =
      "name: queued\nqueue: { max_attempts: 2, classes: [application], backoff: { delay_ms: 10 } }\nsteps: { call: { type: noop } }\n";
    await town.run(queued, [refused]);
    expect(await town.tells()).toEqual([
      "ops: question of run 1, first 1",
      "ops: deadline of run 2, first 1",
      "ops: deadline of run 2, first 1",
      "ops: dead_letter of run 3, first 1",
    ]);
  });

  it("go to every channel of the workflow and the settings, once to each", { tags: ["N1"] }, async () => {
    const town = new Town([
      { on: ["failed"], to: ["ops", "mail"], when: null },
      { on: ["failed"], to: ["ops"], when: "notice.code === 'EXIT_7'" },
    ]);
    town.serve(["ops", "mail", "log"]);
    await town.run(FAIL.replace("to: ops", "to: [ops, log]"), [refused]);
    expect((await town.tells()).sort()).toEqual([
      "log: failed of run 1, first 1",
      "mail: failed of run 1, first 1",
      "ops: failed of run 1, first 1",
    ]);
  });

  it("ask `when`, and are sent where it cannot be evaluated", { tags: ["N6"] }, async () => {
    const rule = (when: string): NotifyRule => ({ on: ["failed"], to: ["ops"], when });
    const heardWith = async (when: string): Promise<number> => {
      const town = new Town([rule(when)]);
      town.serve();
      await town.run(FAIL_QUIETLY, [refused]);
      return (await town.tells()).length;
    };
    expect(await heardWith("notice.step === 'call' && notice.class === 'application'")).toBe(1);
    expect(await heardWith("notice.labels.team === 'core'")).toBe(0);
    expect(await heardWith("notice.labels.team.size > 2")).toBe(1);
  });

  it("are not told while the failure is muted, but counted", { tags: ["N6"] }, async () => {
    const town = new Town();
    town.serve();
    const runId = await town.run(FAIL, [refused]);
    expect(await town.tells()).toEqual(["ops: failed of run 1, first 1"]);
    const rows = await town.store.listBookRows({ limit: 1 });
    const entry = { ...rows[0]!, first_seen: 1, last_seen: 1, occurrences: 1, runs: 1, rescues: {} };
    const triage = { note: null, link: null, owner: null, triaged_at: 1, triaged_by: "ana" };
    await town.store.writeTriage(
      { ...entry, last_run: runId, last_job: 1, triage: "new", muted_until: null, ...triage, revision: 0 },
      { triage: "muted", muted_until: town.clock.now() + DAY, ...triage },
    );
    for (let n = 0; n < 11; n += 1) await town.run(FAIL, [refused]);
    expect(await town.tells()).toEqual([]);
    await town.pass(DAY + HOUR);
    for (let n = 0; n < 88; n += 1) await town.run(FAIL, [refused]);
    expect((await town.tells()).map((text) => text.replace(/ of run \d+/, ""))).toEqual([
      "ops: failed, again 100",
    ]);
  });

  it("are tried again for 24 hours with longer and longer breaks, and then given up", {
    tags: ["N7"],
  }, async () => {
    const town = new Town();
    const tried: number[] = [];
    const startedAt = town.clock.now();
    town.serve(["ops"], async () => {
      tried.push(Math.round((town.clock.now() - startedAt) / 1_000));
      return "it answered 503";
    });
    await town.run(FAIL, [refused]);
    await town.pass(2 * MINUTE);
    expect(tried.slice(0, 4).map((at) => at - tried[0]!)).toEqual([0, 10, 30, 70]);
    await town.pass(23 * HOUR);
    expect(await town.states()).toEqual(["failed due"]);
    await town.pass(3 * HOUR);
    expect(await town.states()).toEqual(["failed undelivered"]);
    const [notice] = await town.store.listNotices({ limit: 1 });
    expect(notice).toMatchObject({ error: "it answered 503", tries: tried.length });
    const count = tried.length;
    await town.pass(6 * HOUR);
    expect(tried).toHaveLength(count);
  });

  it("arrive once the receiver is back", { tags: ["N7"] }, async () => {
    const town = new Town();
    town.answers = ["ECONNREFUSED", "ECONNREFUSED"];
    town.serve();
    await town.run(FAIL, [refused]);
    expect(await town.tells()).toEqual([]);
    await town.pass(MINUTE);
    expect(await town.tells()).toEqual(["ops: failed of run 1, first 1"]);
    expect(await town.states()).toEqual(["failed delivered"]);
  });

  it("are not sent where nobody had the channel for a day", { tags: ["N7"] }, async () => {
    const town = new Town();
    await town.run(FAIL, [refused]);
    await town.pass(DAY + HOUR);
    town.serve();
    expect(await town.tells()).toEqual([]);
    expect(await town.states()).toEqual(["failed undelivered"]);
  });

  it("are told once by three servers, however many rows there are", { tags: ["N8"] }, async () => {
    const town = new Town();
    for (let n = 0; n < 3; n += 1) town.serve();
    for (let n = 0; n < 25; n += 1) await town.run(HOLD, [refused]);
    await town.pass(2 * DAY + HOUR);
    const heard = (await town.tells()).map((text) => text.replace(/ of run \d+/, ""));
    expect(heard).toEqual([
      "ops: held, first 1",
      "ops: held, again 10",
      "ops: held, reminder 25",
      "ops: held, reminder 25",
    ]);
  });

  it("are sent by somebody else where the process dies that had them", { tags: ["N8"] }, async () => {
    const town = new Town();
    let sent = 0;
    // It never answers, and nobody hears of it again.
    town.serve(["ops"], () => {
      sent += 1;
      return new Promise(() => {});
    });
    await town.run(FAIL, [refused]);
    await town.pass(0);
    expect(sent).toBe(1);
    town.serve();
    await town.pass(2 * MINUTE);
    expect(await town.tells()).toEqual([]);
    await town.pass(2 * MINUTE);
    expect(await town.tells()).toEqual(["ops: failed of run 1, first 1"]);
  });

  it("hold up no other channel where one hangs", { tags: ["N8"] }, async () => {
    const town = new Town([{ on: ["failed"], to: ["slow", "ops"], when: null }]);
    town.serve(["slow", "ops"], async (notice) => {
      if (notice.channel === "slow") await new Promise(() => {});
      town.heard.push(notice.channel);
      return null;
    });
    await town.run(FAIL_QUIETLY, [refused]);
    await town.run(FAIL_QUIETLY, [other]);
    expect(await town.tells()).toEqual(["ops", "ops"]);
  });

  it("are kept for 30 days", { tags: ["N9"] }, async () => {
    const town = new Town();
    town.serve();
    await town.run(FAIL, [refused]);
    await town.pass(29 * DAY);
    expect(await town.states()).toEqual(["failed delivered"]);
    await town.pass(2 * DAY);
    expect(await town.states()).toEqual([]);
  });

  it("tell nothing of a run that was imported", { tags: ["N9"] }, async () => {
    const town = new Town();
    const request = workflow(FAIL, { options: { imported: true } });
    const engine = new Engine({
      ...enginePorts(town.store, town.clock),
      worker: new ScriptedWorker(town.clock, { call: ["fail"] }),
      sandbox: plainSandbox,
    });
    const { ended } = await engine.start(request);
    await ended;
    expect(await town.states()).toEqual([]);
  });
});
