import { describe, expect, it } from "vitest";
import { plainLines } from "./plain-text.js";
import { tellingLine } from "./telling-line.js";

const NODE = `/srv/a.js:1
throw new Error("boom");
^

Error: connect ECONNREFUSED 127.0.0.1:5432
    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16) {
  errno: -111,
  code: 'ECONNREFUSED'
}

Node.js v22.1.0`;
const JAVA = `Exception in thread "main" java.lang.IllegalStateException: no pool
\tat app.Main.main(Main.java:7)
Caused by: java.net.ConnectException: Connection refused
\tat app.Pool.open(Pool.java:12)
\t... 1 more
\tat app.Main.main(Main.java:6)`;
const NPM = `npm warn deprecated glob@7.2.3
npm error code E404
npm error 404 Not Found - GET https://packages.example.com/nothing - Not found
npm error 404
npm error 404 Note that you can also install from a tarball
npm error A complete log of this run can be found in: /logs/debug-0.log`;
const NODE_TEST = `✖ adds up (3.9ms)
  AssertionError [ERR_ASSERTION]: -6 == 6
      at TestContext.<anonymous> (file:///srv/price.test.js:2:30) {
    code: 'ERR_ASSERTION',
    operator: '=='
  }
ℹ pass 1
ℹ fail 1`;
const PYTEST = `=================== FAILURES ===================
E       assert -6 == 6
test_price.py:4: AssertionError
FAILED test_price.py::test_adds - assert -6 == 6
========= 1 failed, 14 passed in 3.21s =========`;
const GO_RUN = "panic: no rows\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/x.go:4 +0x1d\nexit status 2";

describe("the line that names a failure", () => {
  it.each([
    [
      "the last of stderr",
      "retrying: it failed\nstep 120: loss is nan",
      "it failed",
      "step 120: loss is nan",
    ],
    ["above the frames of Node.js", NODE, "", "Error: connect ECONNREFUSED 127.0.0.1:5432"],
    [
      "the cause above the frames of Java",
      JAVA,
      "",
      "Caused by: java.net.ConnectException: Connection refused",
    ],
    [
      "the first that npm says",
      NPM,
      "",
      "npm error 404 Not Found - GET https://packages.example.com/nothing - Not found",
    ],
    ["above what `go run` adds", GO_RUN, "", "panic: no rows"],
    [
      "above what make adds",
      "a.c:3: error: no such thing\nmake: *** [Makefile:2: a.o] Error 1",
      "",
      "a.c:3: error: no such thing",
    ],
    [
      "make's own",
      "make: *** No rule to make target 'x'.  Stop.",
      "",
      "make: *** No rule to make target 'x'. Stop.",
    ],
    ["above warnings of npm", "step 120: loss is nan\nnpm warn x", "it failed", "step 120: loss is nan"],
    [
      "of stdout where stderr only warns",
      "npm warn Unknown user config",
      NODE_TEST,
      "AssertionError [ERR_ASSERTION]: -6 == 6",
    ],
    ["of stdout where stderr is empty", "", PYTEST, "FAILED test_price.py::test_adds - assert -6 == 6"],
    [
      "of stdout where stderr only counts",
      "2 problems",
      "a.js:3 error: no semicolon",
      "a.js:3 error: no semicolon",
    ],
    ["a count where nothing else tells", "", "running\n2 tests failed", "2 tests failed"],
    ["not a line of a transcript", "", '{"type":"error","text":"it failed"}', null],
    ["not just the last of stdout", "", "deploying", null],
    ["not a bare frame", "at main.js:3:1\n}", "", null],
    ["what only begins like a frame", "at step 120: loss is nan", "", "at step 120: loss is nan"],
    ["nothing", "", "", null],
  ])("is %s", (_, stderr, stdout, told) => {
    expect(tellingLine(plainLines(stderr), plainLines(stdout))).toBe(told);
  });
});
