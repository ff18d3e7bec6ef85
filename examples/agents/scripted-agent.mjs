// Stands in for a coding agent, so that agent.yaml runs offline: it reads its prompt, talks while it works, gets it wrong
// at first, and does better once it is told what went wrong.
import { readFileSync, writeFileSync } from "node:fs";

const prompt = readFileSync(0, "utf8");
const wanted = /the title shall be "(.*)"/.exec(prompt)?.[1] ?? "";
console.log(`I was told ${prompt.length} characters.`);

if (prompt.startsWith("DARUMA_RETRY_CONTEXT")) {
  const reason = /^review: (.*)$/m.exec(prompt)?.[1];
  console.log(`Last time the review said: ${reason}.`);
  writeFileSync(process.env.DARUMA_OUTPUT, JSON.stringify({ title: wanted, learned: reason }));
} else {
  console.log("I think the title is fine as it is.");
  console.error("review: the title has not changed");
  process.exitCode = 1;
}
