import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { HANG_MS } from "../../test/support/hang.js";
import { Daruma } from "../host/daruma.js";
import { goOnHere, tellChangedFile } from "./go-on-here.js";
import { openClient } from "./remote/open-client.js";
import { plainPaint } from "./render/paint.js";
import type { Session } from "./terminal/channel.js";

function open(folder: string) {
  const told = { text: "" };
  const channel = {
    ...{ isTerminal: false, paint: plainPaint, width: () => 80, height: () => 24 },
    write: (piece: string) => {
      told.text += piece;
    },
  };
  const options = { outputDir: join(folder, "out"), json: false, quiet: false, color: false, debug: false };
  const session = { out: channel, err: channel, options } as unknown as Session;
  return { told, options, session };
}

it("warns of a file that has changed since its run started, and of no other", { tags: ["R12"] }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-changed-"));
  const { told, options, session } = open(folder);
  const file = join(folder, "flow.yaml");
  writeFileSync(file, 'unhandled: hold\nsteps: { a: { exec: "exit 3" } }');
  const daruma = await Daruma.open({ outputDir: options.outputDir });
  try {
    const { runId, result } = await daruma.start(file);
    await result;
    await tellChangedFile(session, daruma, runId);
    expect(told.text).toBe("");
    writeFileSync(file, 'unhandled: hold\nsteps: { a: { exec: "exit 0" } }');
    await tellChangedFile(session, daruma, runId);
    expect(told.text).toContain(`${file} has changed since run ${runId} started`);
  } finally {
    await daruma.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

it("follows a run that another process was faster to go on with, and exits as the run does", {
  tags: ["R8"],
  timeout: HANG_MS,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-go-on-"));
  const { told, options, session } = open(folder);
  const file = join(folder, "flow.yaml");
  writeFileSync(file, `steps: { a: { exec: "until test -e '${folder}/go'; do sleep 0.05; done; exit 3" } }`);
  const faster = await Daruma.open({ outputDir: options.outputDir });
  const client = await openClient(options);
  try {
    const { runId, result } = await faster.start(file);
    const followed = goOnHere(session, client, runId, {});
    const settled = followed.then(
      () => true,
      () => true,
    );
    while (!told.text.includes("continues it") && !(await Promise.race([settled, delay(10)])));
    writeFileSync(join(folder, "go"), "");
    await result;
    expect(await followed).toBe(1);
    expect(told.text).toMatch(
      new RegExp(`^process ${process.pid} continues it$[^]*run ${runId} .* failed`, "m"),
    );
  } finally {
    writeFileSync(join(folder, "go"), "");
    await client.close();
    await faster.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
