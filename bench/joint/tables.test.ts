import { expect, it } from "vitest";
import { PARTS, type Part, type PartRow } from "./race";
import { tenthBelow } from "./tables";

const SEEDS = 5;
const FLOOR = 60;

interface Figures {
  readonly seconds: number;
  /** By part; left out: as good as the joint policy's. */
  readonly quality?: { readonly [part in Part]?: number };
}

/** Rows of a system on a mix, with a little noise by seed. */
const rowsOf = (system: string, { seconds, quality = {} }: Figures, parts: readonly Part[]): readonly PartRow[] =>
  parts.map((part) => {
    const near = (value: number): readonly number[] => Array.from({ length: SEEDS }, (_, seed) => value * (1 + 0.001 * seed));
    const each = near(seconds);
    return {
      ...{ mix: "mix", load: 0.8, floor: FLOOR, system, part, meanSeconds: each, p95Seconds: each, secondsPerToken: each },
      ...{ withinSlo: each, quality: near(quality[part] ?? 70) },
    };
  });

const against = (other: Figures, parts: readonly Part[]) =>
  tenthBelow([...rowsOf("joint", { seconds: 8 }, parts), ...rowsOf("Aragog", other, parts)], ["Aragog"], "meanSeconds");

const drawn = PARTS.filter((part) => part !== "recorded runs");

it("parts that a mix has are its cases: recorded runs count where there are any", () => {
  for (const parts of [drawn, PARTS]) {
    const { figure, detail } = against({ seconds: 10 }, parts);
    expect(figure).toBe(100);
    expect(detail).toContain(`${parts.length - 1} of ${parts.length - 1}, ${parts.length - 1} parts of 1 mixes`);
  }
});

it.each([
  ["single requests below the floor", { "single requests": 50 }],
  ["calls of recorded runs below the floor", { "recorded runs": 50 }],
  ["agents surely worse by more than a point", { agents: 65 }],
  ["an ensemble surely worse by more than a point", { ensemble: 65 }],
] as const)("a system with %s is not compared", (_, quality) => {
  const { figure, detail } = against({ seconds: 10, quality }, PARTS);
  expect(figure).toBe(0);
  expect(detail).toContain("in 4 none is as good");
});

it("recorded runs and single requests may be worse than the joint policy's where they keep the floor", () => {
  expect(against({ seconds: 10, quality: { "single requests": 61, "recorded runs": 61 } }, PARTS).figure).toBe(100);
});
