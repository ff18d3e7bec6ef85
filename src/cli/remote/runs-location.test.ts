import { describe, expect, it } from "vitest";
import { commandLine } from "../declare/command-words.js";
import { checkLocation, isOnThisMachine, locationOf, serverAddress } from "./runs-location.js";

const thrownBy = (work: () => void): unknown => {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
};

describe("the place of runs", () => {
  it.each([
    ["http://host:7420/api/v1", "http://host:7420"],
    ["http://host:7420/api/v1/", "http://host:7420"],
    ["https://host/daruma//", "https://host/daruma"],
    ["https://host/daruma/api/v1", "https://host/daruma"],
    ["http://a:1/api/v1, http://b:2/", "http://a:1,http://b:2"],
  ])("takes the address of a server as people copy it: %s", (given, meant) => {
    expect(serverAddress(given)).toBe(meant);
    expect(locationOf({ server: given }, {}).server).toBe(meant);
    expect(locationOf({}, { DARUMA_SERVER: given }).server).toBe(meant);
  });

  it("need not be typed again where the environment names it", () => {
    const env = { DARUMA_SERVER: "http://host:7420/api/v1" };
    const options = { outputDir: ".daruma", ...locationOf({}, env) };
    expect(commandLine(options, "show 1", env)).toBe("daruma show 1");
    expect(commandLine(options, "show 1", {})).toBe("daruma show 1 --server http://host:7420");
  });

  it.each(["mysql://me:secret@host/db", "sqlite://x.db", "HTTP://host", "redis+tls://:secret@host"])(
    "is no address of another kind of database, and its password is not shown: %s",
    (store) => {
      for (const work of [
        () => checkLocation({ store }, {}),
        () => checkLocation({}, { DARUMA_STORE: store }),
      ]) {
        const error = thrownBy(work);
        expect(error).toMatchObject({ code: "USAGE" });
        expect(String(error)).not.toMatch(/secret|host/);
      }
    },
  );

  it.each(["runs.db", "./a/b.db", "/srv/daruma.db", "postgres://me@host/db", "postgresql://me@host/db"])(
    "may be %s",
    (store) => expect(thrownBy(() => checkLocation({ store }, {}))).toBeNull(),
  );
});

describe("a server on this machine", () => {
  it.each([
    ["http://127.0.0.1:7420", true],
    ["http://localhost:7420/daruma", true],
    ["http://[::1]:7420", true],
    ["https://daruma.example.org", false],
    ["http://192.168.1.5:7420", false],
    ["http://localhost.example.org", false],
    ["http://127.0.0.1:1,http://127.0.0.1:2", false],
    ["nonsense", false],
  ])("%s: %s", (server, expected) => {
    expect(isOnThisMachine(server)).toBe(expected);
  });
});
