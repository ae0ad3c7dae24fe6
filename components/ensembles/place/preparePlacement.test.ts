import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import { testPlacement } from "../testing/testEnsembles";
import { preparePlacement } from "./preparePlacement";

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

  it("begins beside data-concurrent where round-robin leaves workers without an expert, unless another is chosen", () => {
    const { schedules } = testPlacement();
    const [placed, ...others] = schedules.map((each) => ({ ...each, workers: [...each.workers, []] }));
    if (placed === undefined) throw new Error("something is placed");
    const more = testPlacement({ schedules: [placed, ...others, { ...placed, kind: "data-concurrent", makespanSeconds: 600 }] });
    expect(preparePlacement(more, null, identities)).toMatchObject({ baseline: "data-concurrent", speedUp: { value: "1.20 ×" } });
    expect(preparePlacement(more, "round-robin", identities).baseline).toBe("round-robin");
    expect(preparePlacement(testPlacement(), null, identities).baseline).toBe("round-robin");
  });

  it("tells in one phrase whether the placement is proven, or the gap to its bound, and whether it was only searched for", () => {
    const solved = testPlacement().solved;
    const boundAt = (change: Partial<typeof solved>) =>
      plain(preparePlacement(testPlacement({ solved: { ...solved, ...change } }), "round-robin", identities).bound);
    expect(boundAt({})).toBe(
      "A worker has 2 models at most (K). The placement is not proven optimal: the optimum is at most 0.08 % shorter. It takes 500 s against a bound of 500 s, found in 400 ms by HiGHS.",
    );
    expect(boundAt({ gap: 0, lowerBoundSeconds: 500, proven: true })).toContain(" The placement is proven optimal. ");
    expect(boundAt({ gap: 0.0321, by: "search" })).toMatch(
      / found by search alone, not proven optimal: the optimum is at most 3.2 % shorter\..* found in 400 ms\.$/,
    );
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

  it("tells the aggregator's time at even shares, and when all would be done: experts, its load and its answers", () => {
    const { aggregator } = preparePlacement(testPlacement(), "round-robin", identities);
    expect(aggregator?.rows.map(({ share, seconds, whole }) => [share, seconds, whole].map(plain))).toEqual([
      ["0 %", "0 s", "500 s"],
      ["20 %", "200 s", "760 s"],
      ["40 %", "400 s", "960 s"],
      ["60 %", "600 s", "1,160 s"],
      ["80 %", "800 s", "1,360 s"],
      ["100 %", "1,000 s", "1,560 s"],
    ]);
    expect(preparePlacement(testPlacement({ aggregator: null }), "round-robin", identities).aggregator).toBeNull();
  });
});
