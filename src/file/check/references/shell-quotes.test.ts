import { describe, expect, it } from "vitest";
import { placesInShell } from "./shell-warnings.js";

/** The places of each `@` in the line. */
const placesOf = (line: string) =>
  placesInShell(
    line,
    [...line.matchAll(/@/g)].map(({ index }) => ({ from: index, to: index + 1 })),
  ).join(" ");

describe("how a value stands in a shell line", () => {
  it.each([
    ["echo @", "words"],
    ["echo '@' @", "quotes words"],
    ['echo "@" @', "quotes words"],
    ["echo \\'@", "words"],
    ['echo "a\\"@" @', "quotes words"],
    [`echo '"' @ "'" @`, "words words"],
    ["echo don\\'t @", "words"],
    ['echo "$(basename @)" "@"', "words quotes"],
    ['echo "$(echo "@" @)@"', "quotes words quotes"],
    ['echo "`basename @`@"', "words quotes"],
    ["(cd @; echo '@')", "words quotes"],
    ["case x in a) echo '@';; esac", "quotes"],
    ["echo $((1 + @)) '@'", "words quotes"],
    ["# don't @\necho @ '@'", "words words quotes"],
    ["echo a#b'@'", "quotes"],
    ["echo $# '@'", "quotes"],
    ["cat <<EOF\n'@'\nEOF\necho '@'", "document quotes"],
    ["cat <<'EOF'\n'@'\nEOF\necho @", "plain_document words"],
    ['cat <<"END OF" | sh -c @\n@\nEND OF\n@', "words plain_document words"],
    ["cat <<\\EOF\n@\nEOF\n@", "plain_document words"],
    ["cat <<-EOF\n\t@\n\tEOF\n@", "document words"],
    ["cat <<A <<'B'\n@\nA\n@\nB\n@", "document plain_document words"],
    ["cat <<EOF\nEOF @\n@", "document document"],
    ["cat <<< '@'\n@", "quotes words"],
    ["sort < @ > '@'", "words quotes"],
    ["it's @", "quotes"],
    ["@@", "words words"],
  ])("%s", (line, places) => {
    expect(placesOf(line)).toBe(places);
  });
});
