// Steps that start processes, and steps that do nothing, beside programs that start processes without a record.
import { spawnSync } from "node:child_process";
import { measure } from "./measure.mjs";
import { compare, figureOf, race, timeRatio } from "./race.mjs";
import { daruma, make, ninja, PARALLEL, parallel, running, snakemake, xargs } from "./workloads.mjs";

const PEERS = { make, ninja, xargs, parallel, snakemake };
const isInstalled = (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
const shownName = (program) => (program === "parallel" ? "GNU parallel" : program);
let installed;
/** Shell built-ins: no other program is as little work. */
const SHORTCUTS = new Set(["true"]);
const SHORTCUT_NOTE =
  "`true` takes a shortcut in Daruma: a waiting shell runs it and no program is started; the next table has one";

/** The peers that are here; those that are not are named once. */
function findPeers(skipped) {
  if (installed === undefined) {
    installed = Object.keys(PEERS).filter(isInstalled);
    for (const name of Object.keys(PEERS))
      if (!installed.includes(name)) skipped.push({ name: shownName(name), reason: "not installed" });
  }
  return installed;
}

/** From prompt to prompt. */
export async function benchStart({ rounds }, skipped) {
  const results = await race(
    {
      daruma: daruma(1, "wide", running("true")),
      "node -e 0": (folder) => measure(process.execPath, ["-e", "0"], { cwd: folder }),
    },
    rounds,
    skipped,
  );
  const figure = { key: "ms", title: "ms", digits: 0, of: ({ wallMs }) => wallMs };
  return [
    { id: "start", title: "one step, `true`, from prompt to prompt", rounds, ...compare(results, figure) },
  ];
}

export async function benchWide({ rounds, jobs }, skipped) {
  return [
    await wide("wide-true", "true", jobs, rounds, skipped),
    await wide("wide-env", "env true", jobs, rounds, skipped),
  ];
}

async function wide(id, command, jobs, rounds, skipped) {
  const peers = findPeers(skipped);
  const contenders = { daruma: daruma(jobs, "wide", running(command)) };
  for (const peer of peers) {
    const name = shownName(peer);
    contenders[peer === "parallel" ? `${name} with a job log` : name] = PEERS[peer](jobs, { command });
  }
  // Daruma and make start plain words without a shell; a semicolon makes them use one, as ninja always does.
  if (!SHORTCUTS.has(command))
    contenders["daruma, through a shell"] = daruma(jobs, "wide", running(`${command};`));
  if (peers.includes("make")) contenders["make, through a shell"] = make(jobs, { command: `${command};` });
  for (const peer of peers.filter((name) => ["make", "ninja", "xargs"].includes(name)))
    contenders[`${peer}, output to files`] = PEERS[peer](jobs, { command, files: true });
  const results = await race(contenders, rounds, skipped);
  const figure = { key: "rate", title: "jobs/s", digits: 0, of: ({ wallMs }) => jobs / (wallMs / 1000) };
  const shortcut = SHORTCUTS.has(command) ? `; ${SHORTCUT_NOTE}` : "";
  const note = `${PARALLEL} at a time; Daruma records each attempt durably and keeps its output in files${shortcut}`;
  return { id, title: `${jobs} x \`${command}\``, note, rounds, ...compare(results, figure) };
}

export async function benchChain({ rounds, steps }, skipped) {
  const contenders = { daruma: daruma(steps, "chain", running("true")) };
  for (const peer of findPeers(skipped).filter((name) => ["make", "ninja"].includes(name)))
    contenders[peer] = PEERS[peer](steps, { command: "true", chain: true });
  const results = await race(contenders, rounds, skipped);
  const figure = { key: "ms", title: "ms/step", digits: 2, of: ({ wallMs }) => wallMs / steps };
  return [{ id: "chain", title: `chain of ${steps} x \`true\``, rounds, ...compare(results, figure) }];
}

/** The engine and its store alone: no process is started. */
export async function benchNoop({ rounds, steps }, skipped) {
  const shapes = ["wide", "chain"];
  const results = await race(
    Object.fromEntries(shapes.map((shape) => [`daruma, ${shape}`, daruma(steps, shape, "type: noop")])),
    rounds,
    skipped,
  );
  const base = results.get("daruma, wide");
  const part = {
    id: "noop",
    title: `${steps} noop steps: the engine and its store alone`,
    note: "steps/s is without start-up and loading the file; whole run has them",
    rounds,
    columns: [
      { key: "rate", title: "steps/s", digits: 0 },
      { key: "wall", title: "whole run, ms", digits: 0 },
      { key: "ratio", title: "time / time of wide", digits: 2, suffix: "x" },
    ],
    rows: [...results].map(([name, measurements]) => ({
      name,
      cells: {
        rate: figureOf(measurements.map(({ engineMs }) => steps / (engineMs / 1000))),
        wall: figureOf(measurements.map(({ wallMs }) => wallMs)),
        ratio: measurements === base ? null : timeRatio(measurements, base),
      },
    })),
  };
  return [part];
}
