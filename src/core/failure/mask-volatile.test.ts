import { describe, expect, it } from "vitest";
import { maskItems, maskVolatile } from "./signature.js";

describe("maskVolatile masks", () => {
  it.each([
    ["2024-05-06T07:08:09.123Z boom", "<time> boom"],
    ["2024-05-06 07:08:09,123 +0200 boom", "<time> boom"],
    ["[06/May/2024:07:08:09 +0000] boom", "[<time>] boom"],
    ["May  6 07:08:09 web sshd[812]: boom", "<time> web sshd[<n>]: boom"],
    ["Mon, 06 May 2024 07:08:09 GMT boom", "<time> boom"],
    ["Mon May 6 07:08:09 2024 boom", "<time> boom"],
    ["on 2024-05-06 at 7:08:09 PM", "on <time> at <time>"],
    ["2024/05/06 07:08:09 boom", "<time> boom"],
  ])("the time in %j", (line, masked) => {
    expect(maskVolatile(line)).toBe(masked);
  });

  it.each([
    ["timed out after 5000 ms", "timed out after <duration>"],
    [
      "used 213.3 MiB of memory, more than the 100 MiB it asked for",
      "used <size> of memory, more than the <size> it asked for",
    ],
    ["done in 1.25s", "done in <duration>"],
    ["took 1m30s", "took <duration>"],
    ["took 2 hours, 3 minutes and 1 second", "took <duration> and <duration>"],
    ["waited 5000000 ms", "waited <duration>"],
    ["hash 1234567d", "hash <n>"],
    ["12µs", "<duration>"],
  ])("the amount in %j", (line, masked) => {
    expect(maskVolatile(line)).toBe(masked);
  });

  it.each([
    ["id 123e4567-e89b-12d3-a456-426614174000 gone", "id <n> gone"],
    ["at 0x7ffe01", "at <n>"],
    ["commit deadbee not found", "commit <n> not found"],
    ["tmp_1a2b3c4d5e", "tmp_<n>"],
    ["pid 7 died", "pid <n> died"],
    ["process [4711] died", "process [<n>] died"],
    ["port 80 is in use", "port <n> is in use"],
    ["connect db:5432 refused", "connect db:<n> refused"],
    ["connect 127.0.0.1:80 refused", "connect 127.0.0.1:<n> refused"],
    ["[::1]:80 refused", "[::1]:<n> refused"],
    ["line 12, column 3", "line <n>, column <n>"],
    ["main.c:12: error", "main.c:<n>: error"],
    ["main.c:12:5: error", "main.c:<n>: error"],
    ["[Makefile:12: all] Error 2", "[Makefile:<n>: all] Error 2"],
    ["free 123456 of 98765", "free <n> of <n>"],
  ])("the number in %j", (line, masked) => {
    expect(maskVolatile(line)).toBe(masked);
  });

  it.each([
    ["open '/var/tmp/x-1/file.txt': no such file", "open '<path>': no such file"],
    ["at run (/srv/app/dist/main.js:10:7)", "at run (<path>)"],
    ["src/core/a.ts(12,5): error TS2345", "<path>: error TS2345"],
    ["./run.sh and ../up and ~/home", "<path> and <path> and <path>"],
    ["C:\\Users\\me\\a.txt is locked", "<path> is locked"],
    [
      "GET https://api.example.org:8443/v1/items/17?since=3 failed",
      "GET https://api.example.org<path> failed",
    ],
    ["/logs/2024-05-06/run.log", "<path>"],
  ])("the path in %j", (line, masked) => {
    expect(maskVolatile(line)).toBe(masked);
  });
});

describe("maskVolatile keeps what tells failures apart", () => {
  it.each([
    "503 Service Unavailable",
    "status:503: try later",
    "code:17",
    "expected 3 items, got 4",
    "error TS2345: not assignable",
    "either and/or neither, 1/3",
    "exited with code 1",
    "Node.js v20.20.0",
  ])("%j", (line) => {
    expect(maskVolatile(line)).toBe(line);
  });
});

describe("maskItems masks besides", () => {
  it.each([
    ["corrupt JPEG data in frame 179", "corrupt JPEG data in frame <n>"],
    ["expected 3 items, got -1.5", "expected <n> items, got <n>"],
    ["Node.js v20.20.0", "<path> v<n>"],
    ["request 17-4 of 1,000", "request <n>-<n> of <n>"],
    ["cannot open cat.jpg", "cannot open <path>"],
    ["cannot open 'Größe.tiff'", "cannot open '<path>'"],
    ["sample_12.fastq.gz: not in gzip format", "<path>: not in gzip format"],
    ["main.c:12:5: error", "<path>: error"],
    ["open '/data/My Photos/cat': denied", "open '<path>': denied"],
    ['open "C:\\My Photos\\cat": denied', 'open "<path>": denied'],
    ["`../in/a b` and `./b`", "`<path>` and `<path>`"],
  ])("the item in %j", (line, masked) => {
    expect(maskItems(line)).toBe(masked);
  });

  it.each([
    'KeyError: "user.name" is not in foo.bar',
    "can't resolve '@scope/pkg' as application/json",
    "ENOENT: java.lang.NullPointerException",
    "config.json.parse is not a function",
  ])("no word of %j", (line) => {
    expect(maskItems(line)).toBe(line);
  });

  it("takes time in proportion to the text, whatever it is", () => {
    const hostile = ["'", "a.", "'a.jp", "-1", "/a b", "a.a-"].map((part) => part.repeat(4_000));
    for (const text of hostile) expect(maskItems(text).length).toBeLessThanOrEqual(text.length * 4);
  });
});
