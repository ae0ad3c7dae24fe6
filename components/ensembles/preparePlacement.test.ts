import { describe, expect, it } from "vitest";
import { identifyModels } from "../ui/modelIdentity";
import { preparePlacement } from "./preparePlacement";
import { testPlacement } from "./testEnsembles";

const identities = identifyModels(["gemma-2-9b", "qwen2.5-7b"]);
const plain = (text: string | undefined): string | undefined => text?.replaceAll("\u00a0", " ");

describe("preparePlacement", () => {
  it("draws the placement below the baseline it is measured against, and names that baseline in every figure", () => {
    const picture = preparePlacement(testPlacement(), "round-robin", identities);
    expect(picture.gantt?.drawings.map(({ title }) => title)).toEqual(["Before: round-robin", "After: placed by Weir"]);
    expect(picture.speedUp).toEqual({ value: "1.60 ×", detail: "over round-robin, experts alone", name: "Faster" });
    expect(plain(picture.makespan.detail)).toBe("800 s by round-robin");
    expect(plain(`${picture.idle.value} ${picture.idle.detail}`)).toBe("2 % 40 % by round-robin");
    expect(picture.loads).toEqual({ value: "3", detail: "2 by round-robin" });
    expect(picture.gantt?.drawings[0]?.word).toBe("modelled");
  });

  it("says so where the baseline is the faster one", () => {
    const picture = preparePlacement(testPlacement(), "list-scheduling", identities);
    expect(picture.speedUp).toMatchObject({ value: "0.96 ×", name: "Slower" });
  });

  it("takes another baseline where the chosen one does not exist, and none where there is none", () => {
    expect(preparePlacement(testPlacement(), "data-concurrent", identities).speedUp?.detail).toContain("round-robin");
    const placed = testPlacement().schedules.slice(0, 1);
    const alone = preparePlacement(testPlacement({ schedules: placed }), "round-robin", identities);
    expect(alone).toMatchObject({ speedUp: null, baselines: [], makespan: { detail: "" } });
    expect(alone.gantt?.drawings).toHaveLength(1);
  });

  it("tells the gap with digits enough not to round it away, and whether more could be proven", () => {
    const solved = testPlacement().solved;
    const boundAt = (change: Partial<typeof solved>) =>
      plain(preparePlacement(testPlacement({ solved: { ...solved, ...change } }), "round-robin", identities).bound);
    expect(boundAt({})).toBe(
      "Within 0.08 % of the best there is, for linear costs: 501 s against a bound of 501 s, found in 400 ms by HiGHS.",
    );
    expect(boundAt({ gap: 0, makespanSeconds: 500.6 })).toMatch(/^The best there is, for linear costs/);
    expect(boundAt({ gap: 0.0321, proven: false })).toMatch(/^Within 3.2 % of the best there is.*stopped before more could be proven\.$/);
  });

  it("says of each expert where its seconds are from and what its shards lose", () => {
    const [first, second] = preparePlacement(testPlacement(), "round-robin", identities).experts;
    expect(first).toMatchObject({
      costWord: "measured",
      loadWord: "estimated",
      replicas: "2 of at most 2",
      tokens: "1,810/s",
      shard: "1,205/s a shard",
    });
    expect(second?.costWord).toBe("modelled");
  });

  it("marks the K that was chosen, and what the others cost beside the least", () => {
    expect(preparePlacement(testPlacement(), "round-robin", identities).sweep.map(({ chosen, beside }) => [chosen, plain(beside)])).toEqual(
      [
        [false, "+60 %"],
        [true, "least"],
      ],
    );
  });

  it("thins the aggregator's points out and keeps the one at which it answers everything", () => {
    const { aggregator } = preparePlacement(testPlacement(), "round-robin", identities);
    expect(aggregator?.rows.length).toBeLessThanOrEqual(6);
    expect(plain(aggregator?.rows.at(-1)?.share)).toBe("100 %");
    expect(preparePlacement(testPlacement({ aggregator: null }), "round-robin", identities).aggregator).toBeNull();
  });
});
