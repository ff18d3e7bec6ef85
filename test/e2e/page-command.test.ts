import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { DarumaProcess } from "../support/daruma-process.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("daruma page prints the address of a run and hands it to the browser, as serve --open does its own", {
  tags: ["P15"],
}, async () => {
  const seen = join(folder, "seen");
  const browser = join(folder, "browser");
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${seen}\n`);
  chmodSync(browser, 0o755);
  const server = "http://127.0.0.1:7420";
  const opened = await runCli(["page", "12", "a b", "--server", `${server}/`], { BROWSER: browser });
  expect([opened.exitCode, opened.stdout]).toEqual([0, `${server}/#/runs/12/a%20b\n`]);
  await expect.poll(() => readFileSync(seen, "utf8")).toBe(`${server}/#/runs/12/a%20b`);
  const alone = await runCli(["page", "--server", server, "--json"], {
    BROWSER: "",
    DISPLAY: "",
    WAYLAND_DISPLAY: "",
  });
  expect(JSON.parse(alone.stdout)).toEqual({ url: `${server}/`, opened: false });
  for (const address of ["--version", "file:///etc/passwd", "javascript:alert(1)", "http://u:secret@h"]) {
    const refused = await runCli(["page", `--server=${address}`, "--json"], { BROWSER: browser });
    expect([refused.exitCode, JSON.parse(refused.stdout)]).toMatchObject([2, { error: { code: "USAGE" } }]);
    expect(refused.stdout).not.toContain("secret");
  }
  const serving = new DarumaProcess(
    "serve",
    ["serve", "--port", "0", "--open", "--output-dir", join(folder, "out")],
    {
      BROWSER: browser,
    },
  );
  serving.start();
  try {
    await expect.poll(() => readFileSync(seen, "utf8")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/?$/);
    expect(serving.output).toContain(readFileSync(seen, "utf8").replace(/\/$/, ""));
  } finally {
    await serving.stop();
  }
  const without = await runCli(["page", "12"]);
  expect([without.exitCode, without.stderr]).toEqual([2, expect.stringContaining("page needs a server")]);
});
