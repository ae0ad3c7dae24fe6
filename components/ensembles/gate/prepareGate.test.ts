import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { around, testReport } from "../testing/testGate";
import { aloneSays, expertRows, gateFigures, gateStops, recommendation, stopOf } from "./prepareGate";

const stops = gateStops(testReport(), 3);
const stopNamed = (name: string) => {
  const stop = stops.find((each) => each.name === name);
  if (stop === undefined) throw new Error(`no stop ${name}`);
  return stop;
};

describe("stops of the slider", () => {
  it("are the taus that change something, and always aggregating where there is an aggregator", () => {
    expect(stops.map(({ name }) => name)).toEqual(["1/3", "2/3", "1", "aggregate all"]);
    expect(stops.at(-1)).toMatchObject({ skipped: { value: 0 }, accuracy: { value: 0.865 }, aggregatorTokens: 1 });
    expect(gateStops(testReport({ alwaysAggregated: null }), 3).map(({ name }) => name)).toEqual(["1/3", "2/3", "1"]);
  });

  it("say what they mean to who does not see the figures", () => {
    expect(stopNamed("2/3").says).toBe("85.0\u00a0% of questions skip the aggregator, accuracy 82.0\u00a0%");
  });

  it("stand for every tau from the one before on, so that what is typed decides as the stop does", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 1, noNaN: true }), (tau) => {
        const at = stopOf(stops, tau);
        const reached = [1 / 3, 2 / 3, 1].filter((confidence) => confidence >= tau - 1e-9);
        expect(stops[at]?.tau).toBe(reached[0]);
      }),
    );
  });

  it("take a tau above all of them, and none, as the last", () => {
    expect(stopOf(stops, 2)).toBe(3);
    expect(stopOf(stops, null)).toBe(3);
  });
});

describe("figures of a stop", () => {
  it("call a difference noise where its interval holds none, and a cost where it does not", () => {
    expect(gateFigures(stopNamed("1"))[2]).toMatchObject({ value: "−0.2\u00a0points", detail: "−0.7 to +0.3: within noise" });
    expect(gateFigures(stopNamed("2/3"))[2]).toMatchObject({ value: "−3.0\u00a0points", detail: "−4.0 to −2.0: skipping costs accuracy" });
    const gains = { ...stopNamed("1"), difference: around(0.05) };
    expect(gateFigures(gains)[2]?.detail).toContain("skipping gains accuracy");
  });

  it("say that less time is saved than is skipped where split experts write longer", () => {
    expect(gateFigures(stopNamed("2/3"))[3]).toMatchObject({ value: "75\u00a0%" });
    expect(gateFigures(stopNamed("2/3"))[3]?.detail).toContain("less than it skips");
    expect(gateFigures(stopNamed("1/3"))[3]?.detail).not.toContain("less than it skips");
  });

  it("hold nothing against an aggregator that is not there", () => {
    const [point] = testReport().points;
    const alone = gateStops(testReport({ alwaysAggregated: null, points: point === undefined ? [] : [{ ...point, difference: null }] }), 3);
    const [first] = alone;
    if (first === undefined) throw new Error("there is a stop");
    const [accuracy, , difference] = gateFigures(first);
    expect(difference).toMatchObject({ value: "–" });
    expect(accuracy?.name).toBe("Accuracy of what is skipped");
  });
});

it("recommends the chosen tau by its name, and says when it can recommend none", () => {
  const request = { expertsPerQuestion: 3, allowedPoints: 1 };
  expect(recommendation(testReport({ chosenTau: 2 / 3 }), request)).toContain("Recommended: 2/3");
  expect(recommendation(testReport({ chosenTau: null }), { ...request, allowedPoints: 0.5 })).toContain("none costs at most 0.5 points");
  expect(recommendation(testReport({ chosenTau: null, alwaysAggregated: null }), request)).toContain("without an aggregator");
});

it("tells of an expert that alone does no worse, and keeps quiet where the ensemble is better", () => {
  expect(aloneSays(testReport(), stopNamed("2/3"))).toBeNull();
  expect(aloneSays(testReport(), { ...stopNamed("2/3"), accuracy: around(0.65) })).toContain("c-7b alone is right on 70.0\u00a0%");
});

it("tells how many of an expert's answers could be read", () => {
  expect(expertRows(testReport()).map(({ voted }) => voted)).toEqual(["100\u00a0%", "100\u00a0%", "98\u00a0%"]);
});
