import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeView } from "@/components/url/useUrlView";
import { planAxes } from "@/solver/cascade/explore/paretoFront";
import { type FrontierView, frontierCodec } from "./frontierCodec";
import { formatPin, parsePin } from "./routingKey";

const parse = (text: string) => frontierCodec.parse(new URLSearchParams(text));
const nothing: FrontierView = { xAxis: "quality", yAxis: "latency", brush: null, baselines: false, pins: [] };

const range = fc
  .tuple(fc.double({ min: 0, max: 1000, noNaN: true }), fc.double({ min: 0.001, max: 1000, noNaN: true }))
  .map(([low, span]) => [low, low + span] as const)
  .filter(([low, high]) => low < high);
const pin = fc.record({
  routing: fc.constantFrom(
    { models: ["llama-3.1-70b"], thresholds: [] },
    { models: ["llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b-fp8"], thresholds: [84, 56] },
    { models: ["llama-3.1-8b", "llama-3.1-70b"], thresholds: [84], startBelow: 70 },
    { models: ["llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b-fp8"], thresholds: [84, 0], startBelow: [40, 70] },
  ),
  gpus: fc.option(fc.integer({ min: 1, max: 100_000 })),
});

describe("frontierCodec", () => {
  it("brings every part of a view back from the address", () => {
    const view = fc.record({
      axes: fc.shuffledSubarray([...planAxes], { minLength: 2, maxLength: 2 }),
      brush: fc.option(fc.record({ x: range, y: range })),
      baselines: fc.boolean(),
      pins: fc.uniqueArray(pin.map(formatPin), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(view, ({ axes: [xAxis = "quality", yAxis = "latency"], ...rest }) => {
        const whole: FrontierView = { xAxis, yAxis, ...rest };
        const address = writeView(frontierCodec, new URLSearchParams(), whole).toString();
        expect(parse(address)).toEqual(whole);
      }),
    );
  });

  it("leaves the usual view out of the address", () => {
    expect(parse("")).toEqual(nothing);
    expect(writeView(frontierCodec, new URLSearchParams(), nothing).toString()).toBe("");
  });

  it("reads what cannot be as the default rather than failing on a typed address", () => {
    for (const text of ["x=cost&y=cost", "x=speed", "brush=1+2+3", "brush=5+1+0+9", "brush=a+b+c+d", "baselines=yes", "pins=~"])
      expect(parse(text)).toEqual(nothing);
  });

  it("never takes more pins than the tray holds, nor one twice", () => {
    expect(parse("pins=a+b+c+d+e").pins).toHaveLength(4);
    expect(parse("pins=a+a").pins).toEqual(["a"]);
  });
});

describe("pin keys", () => {
  it("round-trip, with GPUs and without", () => {
    fc.assert(
      fc.property(pin, (each) => {
        expect(parsePin(formatPin(each))).toEqual(each);
      }),
    );
  });

  it("are refused with GPUs that are none", () => {
    for (const key of ["a*", "a*0", "a*-4", "a*1.5", "a*2*3", "*4"]) expect(parsePin(key)).toBeNull();
  });
});
