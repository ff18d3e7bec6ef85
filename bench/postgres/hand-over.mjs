// From the end of a job on one worker to the start of its dependent on another: server, two workers and PostgreSQL,
// each a process of its own. The steps themselves say when they begin and end, so starting a process is part of it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median } from "../measure.mjs";

const commandLine = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const PORT = 7_499;
const url = `http://127.0.0.1:${PORT}`;

export async function handOverMs(postgresUrl, steps) {
  const folder = mkdtempSync(join(tmpdir(), "daruma-bench-handover-"));
  const start = (...args) =>
    spawn(process.execPath, [commandLine, ...args, "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
  const children = [
    start(
      "serve",
      "--port",
      String(PORT),
      "--store",
      postgresUrl,
      "--max-parallel",
      "0",
      "--output-dir",
      folder,
    ),
  ];
  try {
    while (
      !(await fetch(`${url}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      ))
    )
      await delay(50);
    for (const tag of ["a", "b"]) {
      const own = join(folder, tag);
      children.push(start("worker", "--server", url, "--name", tag, "--tags", tag, "--output-dir", own));
    }
    const report = await runChain(steps);
    const stamps = report.jobs
      .sort((one, other) => one.id - other.id)
      .map(({ output }) =>
        String(output)
          .split(/\s+/)
          .map((stamp) => Number(stamp) / 1e6),
      );
    return median(stamps.slice(1).map(([begin], index) => begin - stamps[index][1]));
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await delay(500);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runChain(length) {
  const steps = Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `s${at}`,
      {
        exec: "date +%s%N; date +%s%N",
        runs_on: [at % 2 === 0 ? "a" : "b"],
        ...(at > 0 ? { depends_on: [`s${at - 1}`] } : {}),
      },
    ]),
  );
  const answer = await fetch(`${url}/api/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source: JSON.stringify({ name: "hand-over", steps }) }),
  });
  const { run_id } = await answer.json();
  for (;;) {
    const report = await (await fetch(`${url}/api/v1/runs/${run_id}`)).json();
    if (report.status === "completed") return report;
    if (report.status === "failed") throw new Error(JSON.stringify(report.error));
    await delay(200);
  }
}
