import { describe, expect, it } from "vitest";
import { replayedTrial } from "../../../test/support/replayed-trial.js";
import { readStories } from "./job-story.js";

describe("what a failure took down with it", () => {
  it("is told of the step that it depends on, not of the fallback that failed after that", async () => {
    const text = `steps:
  test: { exec: "true" }
  fb: { exec: "true" }
  publish: { exec: "true", depends_on: test }
transitions: [{ from: test, to: fb, on: failure }]`;
    const { runAt, log } = await replayedTrial(text, { test: ["fail"], fb: ["fail"] });
    const { id: runId, definition } = runAt();
    const { stories } = readStories({ runId, definition, log });
    const telling = stories.filter(({ sentences }) =>
      sentences.some(({ text: said }) => said === "publish depends on it and was canceled."),
    );
    expect(telling.map(({ job }) => job.step.definition.id)).toEqual(["test"]);
  });
});
