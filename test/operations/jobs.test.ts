import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { attemptAt, type JobStatus } from "../../src/core/model/rows.js";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const FAILING = `name: failing
failure_handlers: [{ name: again, rules: [{ exit_codes: [9], recovery_script: "true", recovery_timeout_ms: 4000, max_retries: 2 }] }]
steps:
  build: { type: command, exec: "echo out; echo boom >&2; exit 3", failure_handler: again }
  after: { type: noop, depends_on: [build] }
`;
const HELD =
  "name: holding\nunhandled: hold\nsteps: { disk: { type: command, exec: 'exit 3' }, net: { type: command, exec: 'exit 4' } }";

describe("jobs", () => {
  it("are listed by status, run, workflow and step, page by page", async () => {
    const { run_id, workflow_id } = await bench.run(FAILING);
    const all = await bench.call("list_jobs", { run_id });
    expect(all.items.map(({ name, status, attempt_id }) => [name, status, attempt_id])).toEqual([
      ["build", "failed", 1],
      ["after", "canceled", 1],
    ]);
    expect(all.items[0]).toMatchObject({ run_id, workflow_id, error: { code: "EXIT_3" } });
    expect((await bench.call("list_jobs", { status: "failed,canceled", workflow_id })).items).toEqual(
      all.items,
    );
    expect((await bench.call("list_jobs", { run_id, step: "after" })).items).toEqual([all.items[1]]);
    const page = await bench.call("list_jobs", { run_id, limit: 1 });
    expect(page.next).toBe(all.items[0]!.id);
    expect((await bench.call("list_jobs", { run_id, limit: 1, after: page.next! })).items).toEqual([
      all.items[1],
    ]);
  });

  it("are told with what the file says of their step only where that is asked for", async () => {
    const { jobs } = await bench.run(FAILING);
    const [build, after] = jobs.map(({ id }) => id);
    expect((await bench.call("get_job", { job_id: build! })).definition).toBeNull();
    const asked = (job_id: number) => bench.call("get_job", { job_id, definition: true });
    expect((await asked(build!)).definition).toEqual({ type: "command", no_progress_limit: null });
    expect((await asked(after!)).definition).toEqual({ type: "noop", no_progress_limit: null });
  });

  it("are told with their attempts and what the ladder made of them, without the marks of processes", async () => {
    const { jobs } = await bench.run(FAILING);
    const job = await bench.call("get_job", { job_id: jobs[0]!.id });
    expect(job).toMatchObject({
      step: "build",
      attempts: 1,
      attempt_history: [{ attempt: 1, status: "failed", error: { code: "EXIT_3", stderr_tail: "boom\n" } }],
      diagnostics: [{ attempt: 1, rung: "fail", recovery: "NoMatchingRule" }],
    });
    expect(JSON.stringify(job)).not.toContain('"token"');
    expect(await refusalOf(bench.call("get_job", { job_id: 7 }))).toBe("JOB_NOT_FOUND");
  });

  it("that are held are decided by update_job, and by nothing else", async () => {
    const { run_id, jobs } = await bench.run(HELD);
    const [disk, net] = jobs;
    const failed = await bench.call("update_job", {
      job_id: disk!.id,
      status: "failed",
      reason: "gone for good",
    });
    expect(failed).toMatchObject({ id: disk!.id, name: "disk", status: "failed" });
    expect(await refusalOf(bench.call("update_job", { job_id: disk!.id, status: "ready" }))).toBe("NOT_HELD");
    expect(await refusalOf(bench.call("update_job", { job_id: 7, status: "ready" }))).toBe("JOB_NOT_FOUND");
    const retry = { job_id: net!.id, run_id, max_retries: 9 };
    expect(await refusalOf(bench.call("retry_job", retry))).toBe("NOT_RETRYABLE");
    await bench.call("update_job", { job_id: net!.id, status: "ready" });
    const again = await bench.until(run_id, (run) => run.status === "held" && run.jobs[1]!.attempts === 2);
    expect(again.jobs[1]!.status).toBe("held");
  });

  it("that failed are retried as long as they have had fewer attempts than max_retries", async () => {
    const { run_id, workflow_id, jobs } = await bench.run(FAILING);
    const job_id = jobs[0]!.id;
    const other = await bench.run(FAILING);
    const refused = (input: object): Promise<string> =>
      refusalOf(bench.call("retry_job", { job_id, run_id, max_retries: 2, ...input }));
    expect(await refused({ job_id: 7 })).toBe("JOB_NOT_FOUND");
    expect(await refused({ run_id: other.run_id })).toBe("WRONG_RUN");
    expect(await refused({ max_retries: 1 })).toBe("RETRIES_USED_UP");
    expect(await bench.call("retry_job", { job_id, run_id, max_retries: 2 })).toEqual({
      id: job_id,
      workflow_id,
      name: "build",
      status: "ready",
      attempt_id: 2,
    });
    const over = await bench.settled(run_id);
    expect(over.jobs[0]).toMatchObject({ attempts: 2, status: "failed" });
    expect(await refused({})).toBe("RETRIES_USED_UP");
    const ok = await bench.run("steps: { a: { type: noop } }");
    const completed = { job_id: ok.jobs[0]!.id, run_id: ok.run_id, max_retries: 9 };
    expect(await refusalOf(bench.call("retry_job", completed))).toBe("STEP_COMPLETED");
  });
});

describe("a job", () => {
  it("is named by its step in a run, wherever it is named by its id", async () => {
    const { run_id, jobs } = await bench.run(HELD);
    const named = { job_id: "disk", run_id };
    const { id } = jobs[0]!;
    expect((await bench.call("get_job", named)).id).toBe(id);
    expect((await bench.call("get_job_logs", { ...named, stream: "stderr" })).job_id).toBe(id);
    expect(await refusalOf(bench.call("redrive_job", named))).toBe("NOT_DEAD_LETTER");
    expect(await refusalOf(bench.call("answer_job", { ...named, choice: "approve" }))).toBe("NOT_ASKED");
    const classifications = [{ job_id: "disk", action: "fail" as const }];
    const decided = await bench.call("resolve_holds", { run_id, classifications });
    expect(decided.results).toMatchObject([{ job_id: id, step: "disk", ok: true }]);
    expect(await refusalOf(bench.call("update_job", { ...named, status: "ready" }))).toBe("NOT_HELD");
    await bench.call("update_job", { job_id: "net", run_id, status: "failed" });
    await bench.settled(run_id);
    expect(await bench.call("retry_job", { ...named, max_retries: 2 })).toMatchObject({ id, attempt_id: 2 });
    await bench.settled(run_id);
    expect(await refusalOf(bench.call("get_job", { job_id: "disk" }))).toBe("INVALID_INPUT");
  });

  it("looks the same in every answer, and its attempt_id is what retry_job says", {
    tags: ["T21"],
  }, async () => {
    const file = join(bench.folder, "same-go");
    const wait = `while [ ! -e ${file} ]; do sleep 0.02; done`;
    const source = `name: same\nunhandled: hold\nsteps: { a: { type: command, exec: "mkdir ${file}-1 && exit 3; ${wait}; exit 3" } }`;
    const held = await bench.run(source);
    const job_id = held.jobs[0]!.id;
    const shape = ({ id, attempt_id, error }: { id: number; attempt_id: number; error: unknown }) => ({
      id,
      attempt_id,
      error,
    });
    const [listed] = (await bench.call("list_jobs", { run_id: held.run_id })).items;
    const got = await bench.call("get_job", { job_id });
    const error = held.jobs[0]!.error;
    expect(error).toMatchObject({ code: "EXIT_3", class: "application", exit_code: 3, attempt: 1, job_id });
    expect([shape(listed!), shape(got)]).toEqual(Array(2).fill({ id: job_id, attempt_id: 1, error }));
    const put = await bench.call("update_job", { job_id, status: "ready" });
    expect([put.status === "ready" || put.status === "running", put.attempt_id]).toEqual([true, 2]);
    expect((await bench.call("get_job", { job_id })).attempt_id).toBe(2);
    writeFileSync(file, "");
    await bench.settled(held.run_id);
  });

  it("counts its attempt_id from 1: the first before it has had any, the next one while it is ready", {
    tags: ["T21"],
  }, () => {
    const ids = (status: JobStatus) => [0, 1, 2].map((n) => attemptAt(status, n));
    expect(ids("ready")).toEqual([1, 2, 3]);
    for (const status of ["blocked", "running", "failed", "canceled", "skipped"] as const)
      expect(ids(status)).toEqual([1, 1, 2]);
  });

  it("that is completed says how to go back to it, and one that runs to wait", async () => {
    const ok = await bench.run("steps: { a: { type: noop } }");
    const job_id = ok.jobs[0]!.id;
    const retry = bench.call("retry_job", { job_id, run_id: ok.run_id, max_retries: 9 });
    await expect(retry).rejects.toMatchObject({
      code: "STEP_COMPLETED",
      message: "a is completed",
      hint: expect.stringContaining("daruma resume-from"),
      asked: expect.stringContaining("resume_from_step"),
    });
    const back = { run_id: ok.run_id, action: "resume_from_step", step_id: String(job_id) } as const;
    expect((await bench.call("control_run", back)).changed).toMatchObject([{ job_id }]);
    await bench.settled(ok.run_id);
  });
});

describe("failure handlers", () => {
  it("are listed for a workflow, with their rules as JSON text", async () => {
    const { workflow_id } = await bench.run(FAILING);
    const { items } = await bench.call("list_failure_handlers", { workflow_id });
    expect(items).toMatchObject([{ name: "again", workflow_id }]);
    expect(JSON.parse(items[0]!.rules)).toEqual([
      {
        exit_codes: [9],
        match_all_exit_codes: false,
        recovery_script: "true",
        recovery_timeout_ms: 4_000,
        max_retries: 2,
      },
    ]);
    expect(await bench.call("get_failure_handler", { id: items[0]!.id })).toEqual(items[0]);
    expect(await refusalOf(bench.call("get_failure_handler", { id: 999 }))).toBe("HANDLER_NOT_FOUND");
  });
});

describe("logs", () => {
  it("are read piece by piece, never through the middle of a character", async () => {
    const text = "aé€😀z".repeat(3);
    const { jobs } = await bench.run(`steps: { a: { type: command, exec: "printf '%s' '${text}'" } }`);
    const job_id = jobs[0]!.id;
    for (let bytes = 4; bytes <= 12; bytes += 1) {
      let read = "";
      for (let offset = 0; ; ) {
        const piece = await bench.call("get_job_logs", { job_id, offset, limit_bytes: bytes });
        expect(piece.next_offset).toBeGreaterThan(offset);
        read += piece.text;
        offset = piece.next_offset;
        if (offset === piece.size) break;
      }
      expect(read).toBe(text);
    }
    const tail = await bench.call("get_job_logs", { job_id, tail_bytes: 5 });
    expect(tail.text).toBe("😀z");
    const bytes = await bench.call("get_job_logs", { job_id, encoding: "base64", offset: 1, limit_bytes: 1 });
    expect(Buffer.from(bytes.text, "base64")).toEqual(Buffer.from([0xc3]));
  });

  it("of each stream and attempt; what was not printed or did not run is told", async () => {
    const { jobs } = await bench.run(FAILING);
    const job_id = jobs[0]!.id;
    const read = async (input: object) => bench.call("get_job_logs", { job_id, ...input });
    const told = { step: "build", attempt: 1, status: "failed" };
    expect(await read({})).toMatchObject({ ...told, stream: "stderr", text: "boom\n" });
    expect(await read({ stream: "stdout" })).toMatchObject({ ...told, stream: "stdout", text: "out\n" });
    expect((await read({ stream: "summary" })).text).toContain("EXIT_3");
    expect(await refusalOf(read({ attempt: 2 }))).toBe("ATTEMPT_NOT_FOUND");
    expect(await refusalOf(read({ recovery: true }))).toBe("ATTEMPT_NOT_FOUND");
    expect(await refusalOf(read({ stream: "context" }))).toBe("ATTEMPT_NOT_FOUND");
    expect(await refusalOf(bench.call("get_job_logs", { job_id: jobs[1]!.id }))).toBe("ATTEMPT_NOT_FOUND");
  });

  it("are followed while the attempt runs, and from an offset on", async () => {
    const go = join(bench.folder, "go");
    const exec = `echo one; while [ ! -e ${go} ]; do sleep 0.02; done; echo two`;
    const { run_id } = await bench.call("start_run", {
      source: `steps: { a: { type: command, exec: "${exec}" } }`,
    });
    const running = await bench.until(run_id, ({ jobs }) => jobs[0]?.status === "running");
    const job_id = running.jobs[0]!.id;
    let text = "";
    const ids: (string | null)[] = [];
    for await (const { id, data } of bench.stream("get_job_logs", { job_id })) {
      text += (data as { text: string }).text;
      ids.push(id);
      if (text === "one\n") writeFileSync(go, "");
    }
    expect(text).toBe("one\ntwo\n");
    expect(ids.at(-1)).toBe("8");
    const rest: string[] = [];
    for await (const { data } of bench.stream("get_job_logs", { job_id, offset: 4 }))
      rest.push((data as { text: string }).text);
    expect(rest.join("")).toBe("two\n");
  });
});

describe("artifacts", () => {
  it("are listed and read by the names that are there; nothing else can be reached", async () => {
    const big = "x".repeat(100_000);
    const exec = `head -c 100000 /dev/zero | tr '\\\\0' x`;
    const { run_id, jobs } = await bench.run(`steps: { a: { type: command, exec: "${exec}" } }`);
    const folder = join(bench.folder, "out", "output", `run-${run_id}`);
    symlinkSync("/etc/passwd", join(folder, "link"));
    mkdirSync(join(folder, "more"));
    writeFileSync(join(folder, "more", "note.txt"), "hello");
    const { items } = await bench.call("list_artifacts", { run_id });
    const name = `outputs/j${jobs[0]!.id}_a1.json`;
    expect(items).toEqual([
      { name: "more/note.txt", bytes: 5 },
      { name, bytes: 100_002 },
    ]);
    const read = await bench.call("get_artifact", { run_id, name });
    expect(read.text).toBe(JSON.stringify(big));
    for (const hostile of [
      "../../daruma.db",
      "link",
      "more/../more/note.txt",
      "/etc/passwd",
      "more",
      "more/note.txt\0",
    ])
      expect(await refusalOf(bench.call("get_artifact", { run_id, name: hostile }))).toBe(
        "ARTIFACT_NOT_FOUND",
      );
  });
});
