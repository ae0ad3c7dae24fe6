import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeArtefact, encodeArtefact } from "./artefact";
import { confidencePredictor, trainConfidence } from "./confidence";
import { configurationPredictor, trainConfigurations } from "./configurations";
import { lengthPredictor, trainLengths } from "./lengths";
import { testConfidenceRows, testConfigurationRows, testLengthRows } from "./testing/testRows";

const lengthRows = testLengthRows(120, 1);
const confidenceRows = testConfidenceRows(120, 1);
const configurationRows = testConfigurationRows(120, 1);
const artefacts = [
  trainLengths(lengthRows, { seed: 1 }),
  trainConfidence(confidenceRows, { seed: 1 }),
  trainConfigurations(configurationRows, { seed: 1 }),
  trainConfigurations(configurationRows, { seed: 1, kinds: ["network"] }),
];

describe("an artefact's bytes", () => {
  it("hold all of it, and predict the same", () => {
    for (const artefact of artefacts) {
      const read = decodeArtefact(encodeArtefact(artefact));
      expect(isDeepStrictEqual(read, artefact)).toBe(true);
      expect(Buffer.from(encodeArtefact(read)).equals(encodeArtefact(artefact))).toBe(true);
      if (artefact.kind === "lengths" && read.kind === "lengths") {
        const { facts, model } = lengthRows.models[0]!;
        expect(lengthPredictor(read).predict(facts, model)).toEqual(lengthPredictor(artefact).predict(facts, model));
      }
      if (artefact.kind === "confidence" && read.kind === "confidence") {
        const { facts } = confidenceRows;
        expect(confidencePredictor(read).predict(facts)).toEqual(confidencePredictor(artefact).predict(facts));
      }
      if (artefact.kind === "configurations" && read.kind === "configurations") {
        const { facts } = configurationRows;
        expect(configurationPredictor(read).predict(facts)).toEqual(configurationPredictor(artefact).predict(facts));
      }
    }
  });

  it("may lie anywhere in a larger buffer", () => {
    const bytes = encodeArtefact(artefacts[0]!);
    const larger = new Uint8Array(bytes.length + 3);
    larger.set(bytes, 3);
    expect(isDeepStrictEqual(decodeArtefact(larger.subarray(3)), artefacts[0])).toBe(true);
  });

  it("are refused where any of them is changed, or some are cut off or added", () => {
    const bytes = encodeArtefact(artefacts[1]!);
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flipped) => {
        expect(() => decodeArtefact(bytes.with(at, bytes[at]! ^ flipped))).toThrow(RangeError);
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), (length) => {
        expect(() => decodeArtefact(bytes.subarray(0, length))).toThrow(RangeError);
      }),
      { numRuns: 50 },
    );
    expect(() => decodeArtefact(Uint8Array.from([...bytes, 0]))).toThrow("cut off or was changed");
  });

  it("are refused where they are something else or of a later format", () => {
    expect(() => decodeArtefact(new TextEncoder().encode('{"kind":"lengths"} and more of it'))).toThrow(
      "These bytes are no trained predictor",
    );
    const later = encodeArtefact(artefacts[0]!);
    later[8] = 9;
    expect(() => decodeArtefact(later)).toThrow("format 9; this Weir reads format 2");
  });
});
