import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { sharedEnginesOf, sharesOfSpeed } from "./sharedEngines";

const replica = (model: string, node: string) => ({ model, placements: [{ node, gpus: [0] }] });
const node = (name: string, engineOf?: string) => ({ name, gpus: 1, ...(engineOf === undefined ? {} : { engineOf }) });

describe("engines that several models share", () => {
  it("are none where no node stands for another's engine", () => {
    expect(sharedEnginesOf({ nodes: [node("a"), node("b")] }, [replica("base", "a"), replica("other", "b")])).toBeNull();
  });

  it("are those of the parent, for each model", () => {
    const shared = sharedEnginesOf({ nodes: [node("a"), node("a-tuned", "a"), node("b")] }, [
      ...[replica("base", "a"), replica("base", "b"), replica("tuned", "a-tuned")],
    ]);
    expect(Object.fromEntries(shared?.ofModel ?? [])).toEqual({ base: ["a", "b"], tuned: ["a"] });
  });

  const ofModel = (engines: Readonly<Record<string, readonly string[]>>) => ({ ofModel: new Map(Object.entries(engines)) });

  it("give each model its share of the work, and an engine that only one has to that one", () => {
    const works = [
      { model: "base", work: 0.6 },
      { model: "tuned", work: 0.2 },
    ];
    expect(sharesOfSpeed(works, ofModel({ base: ["a"], tuned: ["a"] })).map((share) => share.toFixed(4))).toEqual(["0.7500", "0.2500"]);
    expect(sharesOfSpeed(works, ofModel({ base: ["a"], tuned: ["b"] }))).toEqual([1, 1]);
    // 0.8 of the work of two engines, of which the adapter is on one: both find a utilisation of 0.4.
    const wide = sharesOfSpeed(works, ofModel({ base: ["a", "b"], tuned: ["a"] }));
    expect(wide.map((share, index) => [0.3, 0.2][index]! / share)).toEqual([expect.closeTo(0.4), expect.closeTo(0.4)]);
  });

  test("never give more than the whole speed, and together exactly one engine's where all share one", () => {
    const work = fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 5, noNaN: true }));
    fc.assert(
      fc.property(
        fc.array(work, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat({ max: 2 }), { minLength: 4, maxLength: 4 }),
        (load, at) => {
          const works = load.map((one, index) => ({ model: `m${index}`, work: one }));
          const onOne = sharesOfSpeed(works, { ofModel: new Map(works.map(({ model }) => [model, ["a"]])) });
          const loaded = onOne.filter((_, index) => (load[index] ?? 0) > 0);
          if (loaded.length > 0) expect(loaded.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
          const spread = sharesOfSpeed(works, { ofModel: new Map(works.map(({ model }, index) => [model, [`e${at[index]}`]])) });
          for (const share of spread) expect(share >= 0 && share <= 1).toBe(true);
        },
      ),
    );
  });

  test("of a base model with forty adapters are found at once", () => {
    const works = Array.from({ length: 41 }, (_, index) => ({ model: `m${index}`, work: index + 1 }));
    const at = new Map(works.map(({ model }, index) => [model, index === 0 ? ["a", "b", "c"] : [index % 2 === 0 ? "a" : "b"]]));
    const shares = sharesOfSpeed(works, { ofModel: at });
    const [even, odd] = [0, 1].map((rest) => shares.filter((_, index) => index > 0 && index % 2 === rest));
    expect(even?.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(odd?.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    // Its work of 1 is done by the third engine, which has nothing else.
    expect(shares[0]).toBeCloseTo(1 / 3, 9);
  });
});
