import fc from "fast-check";
import { expect, it } from "vitest";
import { Density, MAX_STRETCHES } from "./run-timeline.js";

it("counts every event once in at most so many stretches, in order, however long the log is", () => {
  const gaps = fc.array(fc.record({ gap: fc.nat(10_000_000), failed: fc.boolean() }), { maxLength: 400 });
  fc.assert(
    fc.property(gaps, (given) => {
      const density = new Density();
      let ms = 0;
      given.forEach(({ gap, failed }, index) => {
        ms += gap;
        density.add(ms, index + 1, failed);
      });
      const { width, stretches } = density.result;
      expect(stretches.length).toBeLessThanOrEqual(MAX_STRETCHES);
      expect(stretches.reduce((sum, { events }) => sum + events, 0)).toBe(given.length);
      expect(stretches.reduce((sum, { failures }) => sum + failures, 0)).toBe(
        given.filter(({ failed }) => failed).length,
      );
      expect(stretches.at(-1)?.seq ?? 0).toBe(given.length);
      for (const [place, { from_ms, seq }] of stretches.entries()) {
        expect(from_ms % width).toBe(0);
        if (place > 0) expect(seq).toBeGreaterThan(stretches[place - 1]!.seq);
      }
    }),
  );
});
