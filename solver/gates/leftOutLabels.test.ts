import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type UnusableLabelKind, unusableLabelWords } from "./labelledStage";
import { leftOutLabels, leftOutText } from "./leftOutLabels";

const kinds = Object.keys(unusableLabelWords) as UnusableLabelKind[];

describe("labels that are left out", () => {
  it("are counted by reason, and each is counted once", () => {
    const label = fc.record({ kind: fc.constantFrom(...kinds), decisionId: fc.string(), line: fc.option(fc.nat(), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(label), (unusable) => {
        const leftOut = leftOutLabels(unusable);
        for (const { kind, labels, first } of leftOut) {
          expect(labels).toBe(unusable.filter((each) => each.kind === kind).length);
          expect(first).toHaveLength(Math.min(labels, 3));
        }
        expect(leftOut.reduce((sum, { labels }) => sum + labels, 0)).toBe(unusable.length);
      }),
    );
  });

  it("are one sentence with the first few lines or ids of each reason", () => {
    const gone = [2, 5, 6, 9].map((line) => ({ kind: "no-record" as const, decisionId: `d${line}`, line }));
    const unscored = { kind: "no-gate" as const, decisionId: "d7" };
    expect(leftOutText(leftOutLabels([unscored, ...gone]), 12)).toBe(
      "5 of 12 labels cannot count and are left out: 4 because the gateway, which keeps its newest 20000 records until it restarts, has none of the request (line 2: d2, line 5: d5, line 6: d6 …), 1 because no gate scored the answer (d7).",
    );
    expect(leftOutText(leftOutLabels([unscored]), 2)).toBe(
      "1 of 2 labels cannot count and is left out: 1 because no gate scored the answer (d7).",
    );
  });

  it("are said to be all of them, or the only one", () => {
    const unscored = { kind: "no-gate" as const, decisionId: "d7" };
    expect(leftOutText(leftOutLabels([unscored, unscored]), 2)).toMatch(/^None of the 2 labels can count: 2 because no gate scored/);
    expect(leftOutText(leftOutLabels([unscored]), 1)).toBe("The label cannot count: no gate scored the answer (d7).");
    expect(leftOutText([], 3)).toBeNull();
  });
});
