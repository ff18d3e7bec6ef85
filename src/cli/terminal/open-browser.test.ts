import { expect, it } from "vitest";
import { browserCommand } from "../commands/serve/page.js";

it.each([
  [{ BROWSER: "firefox", DISPLAY: ":0" }, "linux", "firefox"],
  [{ DISPLAY: ":0" }, "linux", "xdg-open"],
  [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", "xdg-open"],
  [{ DISPLAY: "" }, "linux", null],
  [{}, "linux", null],
  [{}, "darwin", "open"],
] as const)("with %j on %s a page is opened by %j", (env, platform, command) => {
  expect(browserCommand(env, platform)).toBe(command);
});
