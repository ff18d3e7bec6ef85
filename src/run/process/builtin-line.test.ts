import { describe, expect, it } from "vitest";
import { isBuiltinLine } from "./launcher-protocol.js";

describe("a line of built-ins", () => {
  it.each([
    "true",
    " false ",
    ":",
    "exit 3",
    "exit",
    "exit 255",
    "echo",
    "echo hello world",
    "true\n",
    "echo 'it is $5; rm x' \"a b\"",
    "true && exit 3",
    "false || echo no; exit 4",
    "echo -n a=b --c=/x.y:1,2@3%4+5",
  ])("is recognised: %j", (line) => {
    expect(isBuiltinLine(line)).toBe(true);
  });

  it.each([
    "",
    "ls",
    "echo $$",
    'echo "$HOME"',
    "echo `id`",
    "echo a > f",
    "echo a | cat",
    "true &",
    "exit 256",
    "exit x",
    "exit 1 2",
    "kill -9 0",
    "echo *",
    "echo ~",
    "echo \\$",
    'echo "\\$HOME"',
    "true; ls",
    "true\nls",
    "A=1 true",
    "echo 'a\nb'",
    "trueish",
    "echo a&&",
    "(true)",
    "echo 'open",
    "! true",
    "exec true",
    "eval true",
    "cd /",
    ". x",
    "echo {a,b}",
    "echo a # b",
    "echo 'x'; $0",
    `echo ${"x".repeat(2000)}`,
  ])("is not: %j", (line) => {
    expect(isBuiltinLine(line)).toBe(false);
  });

  it("is decided quickly for hostile text", () => {
    expect(isBuiltinLine(`echo ${"a ".repeat(450)}$`)).toBe(false);
    expect(isBuiltinLine(`echo ${"a".repeat(900)}$`)).toBe(false);
    expect(isBuiltinLine(`echo ${"''a".repeat(300)}$`)).toBe(false);
  });
});
