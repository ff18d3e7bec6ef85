import { describe, it } from "vitest";
import { expectAsRecorded } from "./golden.js";
import { play, SCENES } from "./scene.js";

/** A minute on a quiet machine; it ends what would wait for ever. */
const MAX_SCENE_MS = 900_000;

describe("what the command line, REST and MCP answer", () => {
  it.concurrent.each(SCENES)(
    "in the scene %s is as recorded",
    async (name) => {
      expectAsRecorded(`scenes/${name}.txt`, await play(name));
    },
    MAX_SCENE_MS,
  );
});
