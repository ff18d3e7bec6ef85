import { describe, expect, it } from "vitest";
import type { Notice, NoticeFacts } from "../../core/notices/notice.js";
import { composeMessage } from "./compose-message.js";

const AT = Date.UTC(2026, 0, 5, 12, 30);

function notice(changes: Omit<Partial<Notice>, "facts"> & { readonly facts?: Partial<NoticeFacts> }): Notice {
  return {
    ...{
      id: "msg_1",
      at: AT,
      kind: "held",
      channel: "ops",
      thing: "t",
      run_id: 12,
      workflow: "ci",
      step: "test",
    },
    ...{ signature: "v1:3f9a01bc77aa", condition: null, state: "due", tries: 0, error: null, next_at: 0 },
    ...{ told: { as: "first", count: 1, since: AT }, settled_at: null, ...changes },
    facts: {
      ...{
        recovery: null,
        scope: "root",
        job_id: 120_000_001,
        attempt: 3,
        managed: true,
        held: 1,
        questions: 0,
      },
      ...{ code: "EXIT_1", class: "application", message: "exit code 1" },
      lines: ["2 tests failed", "AssertionError: expected 200, got 500"],
      tried: [
        { rung: "retry", reason: "no retries left (2 used)" },
        { rung: "goto", reason: "its bound (1) is used up" },
      ],
      ...changes.facts,
    },
  } as Notice;
}

const textOf = (given: Notice, page: string | null = null): string => {
  const { subject, text } = composeMessage(given, { page });
  return `${subject}\n---\n${text}`;
};

describe("a message", () => {
  it("of a hold has the failing lines, what was tried, what waits and how to decide", {
    tags: ["N11"],
  }, () => {
    expect(textOf(notice({}), "http://daruma.example:7420")).toBe(`ci: test is held in run 12 (exit code 1)
---
Step test in run 12 of ci failed and waits for a decision.

exit code 1 (EXIT_1, application)
  | 2 tests failed
  | AssertionError: expected 200, got 500

What was tried: 3 attempts.
  retry: no retries left (2 used)
  goto: its bound (1) is used up

Waiting in this run: 1 held step.

What to do:
  http://daruma.example:7420/#/runs/12/test
  daruma resolve 12 test --retry              # run it again, once the cause is fixed
  daruma resolve 12 test --skip               # continue without it
  daruma resolve 12 test --fail               # let it fail
  daruma failures mute 3f9a01bc77 --until 7d  # mute this failure for a week`);
  });

  it("of a completed run says so, and of a handled failure what failed and how to look at it", {
    tags: ["N11"],
  }, () => {
    const signature = null;
    const none = { code: undefined, class: undefined, message: undefined, lines: [], tried: [], attempt: 0 };
    const completed = notice({
      ...{ kind: "completed", step: null, signature },
      facts: { ...none, held: 0 } as unknown as Partial<NoticeFacts>,
    });
    expect(textOf(completed)).toBe(`ci: run 12 completed
---
Run 12 of ci completed.

To look at it:
  daruma show 12  # see how it went`);
    const handled = notice({ kind: "handled", signature, facts: { held: 0, tried: [], others: ["lint"] } });
    expect(textOf(handled)).toBe(`ci: run 12 completed, but test failed and was handled (exit code 1)
---
Run 12 of ci completed, but step test failed. Its workflow file says what to do then, and that was done.

exit code 1 (EXIT_1, application)
  | 2 tests failed
  | AssertionError: expected 200, got 500

What was tried: 3 attempts.

Also failed: lint.

To look at it:
  daruma explain 12 test  # see why
  daruma show 12          # see what ran and what was skipped`);
  });

  it("of a completed run in whose child run something was not mended says so, and leads there", {
    tags: ["N11"],
  }, () => {
    const none = {
      code: undefined,
      class: undefined,
      message: undefined,
      lines: [],
      tried: [],
      held: 0,
      attempt: 1,
    };
    const told = (handled: number, decided: number): string =>
      textOf(
        notice({
          ...{ kind: "handled", step: "ship", signature: null },
          facts: { ...none, below: { run_id: 13, handled, decided } } as unknown as Partial<NoticeFacts>,
        }),
      );
    expect(told(2, 1)).toBe(`ci: run 12 completed, but 2 failures in its child run 13 were handled
---
Run 12 of ci completed, but 2 failures in its child run 13 were handled (step ship).

To look at it:
  daruma explain 13  # see why
  daruma show 12     # see what ran and what was skipped`);
    expect(told(0, 1)).toContain("but 1 step of its child run 13 was ended by a decision\n");
  });

  it("of a run that no server runs names the command that goes on with it, and quotes what a shell would read", {
    tags: ["N11"],
  }, () => {
    const text = textOf(notice({ step: "vi sit", facts: { managed: false, scope: "root/cities[1]" } }));
    expect(text).toContain("daruma resolve 12 'vi sit@cities[1]' --retry");
    expect(text).not.toContain("daruma resume");
    expect(text).not.toContain("http");
  });

  it("says how often it has happened, and since when", { tags: ["N11"] }, () => {
    const told = { as: "again", count: 10, since: AT - 3_600_000 } as const;
    const text = textOf(notice({ kind: "failed", told, facts: { held: 0, others: ["lint", "docs"] } }));
    expect(text.split("\n")[0]).toBe("ci: run 12 failed at test (exit code 1) (10 times)");
    expect(text).toContain("Run 12 of ci failed because step test failed.\n");
    expect(text).toContain(
      "It has happened 10 times since 2026-01-05 11:30 UTC.\n\nAlso failed: lint, docs.\n",
    );
    expect(text).toContain("daruma explain 12 test");
  });

  it("reminds of a hold that nobody has decided", { tags: ["N11"] }, () => {
    const text = textOf(notice({ told: { as: "reminder", count: 1, since: AT } }));
    expect(text).toMatch(/^Still waiting: ci: test is held in run 12/);
    expect(text).toContain("waits for a decision. It was told before, and nobody has decided yet.\n");
  });

  it("of a hold that expires says when and what then, and a later reminder does not", {
    tags: ["N11"],
  }, () => {
    const expiry = { at: "2026-01-05T13:00:00.000Z", action: "skip", choice: null } as const;
    const held = notice({ facts: { expiry } });
    expect(textOf(held)).toContain(
      "Waiting in this run: 1 held step.\nIt waits until 2026-01-05T13:00:00.000Z, then skip.\n",
    );
    expect(composeMessage(held, { page: null }).data.expiry).toEqual(expiry);
    const told = { as: "reminder", count: 1, since: AT } as const;
    expect(textOf(notice({ at: AT + 86_400_000, told, facts: { expiry } }))).not.toContain("It waits until");
  });

  it("of a question has the question and a command for each answer", { tags: ["N11"] }, () => {
    const facts = {
      code: undefined,
      lines: [],
      tried: [],
      prompt: "Ship it?\nReally?",
      choices: ["yes", "no way"],
    };
    const asked = notice({
      kind: "question",
      step: "ask",
      facts: { ...facts, held: 0, questions: 1, due_at: AT } as never,
    });
    expect(textOf(asked)).toBe(`ci: ask asks in run 12: Ship it? Really?
---
Step ask in run 12 of ci asks:

  Ship it?
  Really?

Waiting in this run: 1 open question.
It waits until 2026-01-05T12:30:00.000Z.

What to do:
  daruma answer 12 ask --choose yes       # answer yes
  daruma answer 12 ask --choose 'no way'  # answer no way`);
  });

  it("of a recovery says what works again", { tags: ["N11"] }, () => {
    const told = { as: "recovered", count: 3, since: AT } as const;
    expect(textOf(notice({ kind: "recovered", told }))).toBe(`ci: test works again
---
Step test of ci has completed again, and nothing of this failure waits any more. It had failed 3 times.`);
    const ofMachine = (name: string, was: "breaker" | "quarantined") =>
      textOf(notice({ kind: "recovered", workflow: null, step: null, told, facts: { name, was } as never }));
    expect(ofMachine("w1", "quarantined")).toBe("Worker w1 works again\n---\nWorker w1 gets attempts again.");
    expect(ofMachine("pay", "breaker")).toBe(
      "Breaker pay is closed again\n---\nBreaker pay is closed: the steps that waited for it go on.",
    );
  });

  it("of a run that was undone says how to run it again, not how to continue it", { tags: ["N11"] }, () => {
    const { facts } = notice({ kind: "failed" });
    const undone = textOf(notice({ kind: "failed", facts: { ...facts, undone: true } }));
    expect(undone).toContain("daruma fork 12 --from test");
    expect(undone).not.toContain("daruma reset");
    expect(textOf(notice({ kind: "failed" }))).toContain("daruma reset 12");
  });

  it("of a time limit says which", { tags: ["N11"] }, () => {
    const limit = { code: undefined, lines: [], tried: [], attempt: undefined, held: 0, limit_ms: 7_200_000 };
    const warned = notice({ kind: "deadline", step: null, facts: limit as never });
    expect(textOf(warned)).toBe(`ci: run 12 has been running for 2 h
---
Run 12 of ci has been running for 2 h, longer than its \`warn_after\`. It goes on.

To look at it:
  daruma timeline 12  # see what took how long`);
    const over = notice({ kind: "deadline", step: null, facts: { ...limit, code: "DEADLINE" } as never });
    expect(textOf(over)).toContain("Run 12 of ci took longer than its deadline of 2 h and was canceled.\n");
  });

  it("of a dead letter says how to put it back", { tags: ["N11"] }, () => {
    const text = textOf(notice({ kind: "dead_letter" }));
    expect(text).toContain("ci: test is a dead letter in run 12 (exit code 1)\n");
    expect(text).toContain("daruma redrive 12 test");
  });
});
