import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { testSample } from "../testing/testSample";
import { noiseFloor, oracleGain } from "./noiseFloor";

const FILE = "../shared/data/quality/answers_crux.csv.gz";

/** Labels by prompt of one model of the published answers. */
function labelsOf(table: string, model: string): Map<string, number> {
  return new Map(
    table.split("\n").flatMap((line) => {
      const [prompt = "", name = "", correct = ""] = line.split(",", 3);
      return name === model ? [[prompt, 100 * Number(correct)] as const] : [];
    }),
  );
}

describe("noiseFloor", () => {
  it("is zero for copies that agree, and half the disagreement for right and wrong answers", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: 1 }), (pairs) => {
        const [first, second] = [0, 1].map((copy) => pairs.map((pair) => (pair[copy] ? 100 : 0)));
        const { disagreement, gain } = noiseFloor(first!, second!);
        expect(gain).toBeCloseTo(50 * disagreement, 9);
        expect(noiseFloor(first!, first!)).toEqual({ disagreement: 0, gain: 0, standardError: 0 });
        const either = pairs.filter((pair) => pair[0] || pair[1]).length;
        const each = pairs.filter((pair) => pair[0]).length + pairs.filter((pair) => pair[1]).length;
        expect(gain).toBeCloseTo((100 * (either - each / 2)) / pairs.length, 9);
      }),
    );
  });

  it("refuses columns of different prompts", () => {
    expect(() => noiseFloor([100], [100, 0])).toThrow("found 1 and 2");
  });

  it("finds the published floor: one 405B model by two providers gains 5 to 8 points on crux by noise alone", needs(file(FILE)), () => {
    const table = gunzipSync(readFileSync(FILE)).toString("utf8");
    const providers = ["Llama-3.1-405B-Inst-fp8@together", "Llama-3.1-405B-Inst@hyperbolic", "Llama-3.1-405B-Inst@sambanova"];
    for (const [index, name] of providers.entries()) {
      const one = labelsOf(table, name);
      const other = labelsOf(table, providers[(index + 1) % providers.length]!);
      const prompts = [...one.keys()].filter((prompt) => other.has(prompt));
      expect(prompts.length).toBe(800);
      const floor = noiseFloor(
        prompts.map((prompt) => one.get(prompt)!),
        prompts.map((prompt) => other.get(prompt)!),
      );
      expect(floor.disagreement).toBeGreaterThan(0.1);
      expect(floor.disagreement).toBeLessThan(0.15);
      expect(floor.gain).toBeGreaterThan(5);
      expect(floor.gain).toBeLessThan(8);
    }
  });
});

describe("oracleGain", () => {
  it("of two equal models that err by chance is noise, as the floor beside it shows", () => {
    const { label } = testSample({ prompts: 4000, skills: [0.6, 0.6], seed: 2 });
    const copies = noiseFloor(label[0]!, label[1]!);
    const { gain, noiseFloor: beside } = oracleGain(label, copies);
    expect(gain).toBeGreaterThan(3);
    expect(Math.abs(gain - copies.gain)).toBeLessThan(3 * copies.standardError + 1);
    expect(beside).toBe(copies);
  });
});
