import { expect, it } from "vitest";
import { PARTS, type Part, type PartRow } from "./race";
import { highestLoadTable, tenthBelow } from "./tables";

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

it("the highest load is where the share within the limit falls below nine tenths, on a line between the loads that were run", () => {
  const at = (load: number, within: number): PartRow => ({
    ...(rowsOf("joint", { seconds: 8 }, ["all"])[0] as PartRow),
    load,
    withinSlo: [within],
  });
  const found = (...rows: readonly PartRow[]): string | undefined =>
    highestLoadTable(rows).trimEnd().split("\n").at(-1)?.split("|")[3]?.trim();
  expect(found(at(0.5, 100), at(1, 80))).toBe("0.75");
  expect(found(at(0.5, 100), at(1, 90))).toBe("1 or more");
  expect(found(at(0.5, 89), at(1, 99))).toBe("below 0.5");
});

it("a case in which the joint policy itself is surely below the floor is not counted as better", () => {
  const parts = ["single requests"] as const;
  const rows = [...rowsOf("joint", { seconds: 8, quality: { "single requests": 50 } }, parts), ...rowsOf("Aragog", { seconds: 10 }, parts)];
  const { figure, detail } = tenthBelow(rows, ["Aragog"], "meanSeconds");
  expect(figure).toBe(0);
  expect(detail).toContain("in 1 joint itself is below the floor");
});
