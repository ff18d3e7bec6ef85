import { expect, test } from "vitest";
import { wrapCode } from "./wrap-code.js";

const isExpression = (code: string) => {
  const wrapped = wrapCode(code);
  return wrapped.ok && wrapped.source.includes("return (\n");
};

test.each(["a", "{ a: 1 }", "iffy", "if$", "doä", "let\\u0061", "function () {}", "retry // const"])(
  "an expression: %s",
  (code) => {
    expect(isExpression(code)).toBe(true);
  },
);

test.each(["return a", "\n const a = 1", "if(a) return 1", "do{}while(0)", "throw 1", "for(;;);", "a; b"])(
  "a body: %s",
  (code) => {
    expect(wrapCode(code)).toMatchObject({ ok: true });
    expect(isExpression(code)).toBe(false);
  },
);
