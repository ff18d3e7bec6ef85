import { describe, expect, it } from "vitest";
import { linesIn } from "./patch-lines.js";

describe("the lines of a patch", () => {
  it("are those of its hunks, also where they look like headers", () => {
    const patch = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@ title
 one
--- two
+++ two
 three
\\ No newline at end of file
@@ -9 +9,2 @@
+@@ -1,9 +1,9 @@
 x
diff --git a/b.bin b/b.bin
GIT binary patch
literal 3
+abc
-def
`;
    expect(linesIn(patch)).toEqual({ added: 2, removed: 1 });
    expect(linesIn("")).toEqual({ added: 0, removed: 0 });
  });
});
