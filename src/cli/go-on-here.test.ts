import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { HANG_MS } from "../../test/support/hang.js";
import { Daruma } from "../host/daruma.js";
import { goOnHere } from "./go-on-here.js";
import { openClient } from "./remote/open-client.js";
import { plainPaint } from "./render/paint.js";
import type { Session } from "./terminal/channel.js";

it("follows a run that another process was faster to go on with, and exits as the run does", {
  tags: ["R8"],
  timeout: HANG_MS,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-go-on-"));
  let text = "";
  const channel = {
    ...{ isTerminal: false, paint: plainPaint, width: () => 80, height: () => 24 },
    write: (piece: string) => {
      text += piece;
    },
  };
  const options = { outputDir: join(folder, "out"), json: false, quiet: false, color: false, debug: false };
  const session = { out: channel, err: channel, options } as unknown as Session;
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
    while (!text.includes("continues it") && !(await Promise.race([settled, delay(10)])));
    writeFileSync(join(folder, "go"), "");
    await result;
    expect(await followed).toBe(1);
    expect(text).toMatch(new RegExp(`^process ${process.pid} continues it$[^]*run ${runId} .* failed`, "m"));
  } finally {
    writeFileSync(join(folder, "go"), "");
    await client.close();
    await faster.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
