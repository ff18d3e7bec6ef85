import { describe, expect, it } from "vitest";
import { fullWarningsOf, REAL_CHECKS } from "../../../../test/support/workflow-text.js";
import { shellWarnings } from "./shell-stops.js";

/** `CODE text from the place on`. */
const warned = (text: string, shell: "sh" | "bash" | readonly string[] = "sh"): string[] =>
  shellWarnings(text, shell).map(({ code, at }) => `${code} ${text.slice(at).split("\n")[0]}`);

describe("$? after a command that ends the block", () => {
  it.each([
    ["grep -q x f; if [ $? -eq 0 ]; then echo y; fi", "$? -eq 0 ]; then echo y; fi"],
    ["grep -q x f\nrc=$?\necho $rc", "$?"],
    ['wait $pid\necho "ended with $?"', '$?"'],
    ["if a; then b; echo $?; fi", "$?; fi"],
    ["set +e\na\nset -e\nb\nrc=$?", "$?"],
    ["a | b\ncase $? in 0) c;; esac", "$? in 0) c;; esac"],
    ["x=$(a; echo $?)", "$?)"],
    ["cat <<EOF\nit's $? | not read\nEOF\na\nrc=$?", "$?"],
  ])("is warned of in %j", (text, from) => {
    expect(warned(text, "bash")).toEqual([`SHELL_STOPS ${from}`]);
  });

  it.each([
    "a || rc=$?",
    "a && b; echo $?",
    "if a; then b; else rc=$?; fi",
    "set +e\na\nrc=$?",
    "set +eu; a; rc=$?",
    "! a; rc=$?",
    "if ! a\nthen echo $?; fi",
    "a\nexit $?",
    "trap 'rc=$?' EXIT\na",
    "a # b; c $?",
    "for f in *; do a; done; echo $?",
    "(a; b); echo $?",
    "cat <<'EOF'\na\nrc=$?\nEOF",
  ])("is not in %j", (text) => {
    expect(warned(text, "bash")).toEqual([]);
  });

  it("is no matter where the shell goes on", () => {
    expect(warned("a; rc=$?", ["bash", "-c"])).toEqual([]);
    expect(warned("a; rc=$?", ["bash", "-ec"])).toEqual(["SHELL_STOPS $?"]);
    expect(warned("a; rc=$?", ["python3", "-e"])).toEqual([]);
  });
});

describe("a pipe under a shell without pipefail", () => {
  it.each([
    ["make | tee log", "| tee log"],
    ["echo a | b\nc | d", "| d"],
    ["a | b || exit 1", "| b || exit 1"],
    ["v=$(curl x | jq .y)", "| jq .y)"],
    ['echo "$(a | b)"', '| b)"'],
    ["echo `a | b`", "| b`"],
    ["for f in *; do a; done | sort", "| sort"],
    ["if a; then b | c; fi", "| c; fi"],
    ["case $x in a|b) c | d;; esac", "| d;; esac"],
  ])("is warned of in %j", (text, from) => {
    expect(warned(text)).toEqual([`PIPE_HIDES ${from}`]);
  });

  it.each([
    "echo a | b",
    "a | b || true",
    "a || b",
    "if a | b; then c; fi",
    "! a | b",
    "until a | b; do sleep 1; done",
    "case $x in a|b) c;; 'd'|e) f;; esac",
    "case $x in\n  a|b) c ;;\n  *|d) e\nesac\ng",
    "a '|' b",
    'a "|" b \\| c',
    ["a {{ b | sh }} c", "{% if x | y %}"].join(" "),
    `\${a:-b|c}`,
    "a >| b 2>&1",
    "cat <<EOF\na | b\nEOF",
    "# a | b",
  ])("is not in %j", (text) => {
    expect(warned(text)).toEqual([]);
  });

  it("is right with bash, and with a list that says pipefail", () => {
    expect(warned("a | b", "bash")).toEqual([]);
    expect(warned("a | b", ["bash", "-eo", "pipefail", "-c"])).toEqual([]);
    expect(warned("a | b", ["sh", "-ec"])).toEqual(["PIPE_HIDES | b"]);
  });
});

describe("pipefail under a shell that may not know it", () => {
  it("is warned of, in place of the pipes that it is for", () => {
    expect(warned("set -euo pipefail\na | b")).toEqual(["NEEDS_BASH pipefail"]);
    expect(warned("cd x\nset -o pipefail; a", ["sh", "-ec"])).toEqual(["NEEDS_BASH pipefail; a"]);
  });

  it("is not where bash runs the text, or where the text asks first", () => {
    expect(warned("set -euo pipefail\na | b", "bash")).toEqual([]);
    expect(warned("set -o pipefail || true\na")).toEqual([]);
    expect(warned("echo set pipefail")).toEqual([]);
  });
});

it("both are told with their places, once each, for the shell that a step gets", () => {
  const text = `steps:
  one:
    exec: |
      make | tee log
      cat log | sort
      grep -q x log
      echo $?
  two: { shell: bash, exec: a | b }
  three: { type: agent, prompt: do, implementation: { exec: a | b, prompt: do } }
  four: { exec: [a, "|", b] }
`.replace("type: agent, prompt: do, ", "type: agent, ");
  const told = fullWarningsOf(text, REAL_CHECKS).map(
    ({ code, line, column, path }) => `${code} ${line}:${column} ${path}`,
  );
  expect(told).toEqual([
    "PIPE_HIDES 4:12 steps.one.exec",
    "SHELL_STOPS 7:12 steps.one.exec",
    "PIPE_HIDES 9:51 steps.three.implementation.exec",
  ]);
});
