import { describe, expect, it } from "vitest";
import { encodeArtefact } from "./artefact";
import { type ConfidenceRows, confidenceOfEmbeddings, confidencePredictor, trainConfidence } from "./confidence";
import { heldOutConfidence } from "./heldOut";
import { testConfidenceRows, testPrompts } from "./testing/testRows";

const rows = testConfidenceRows(800, 1);
const fresh = testConfidenceRows(400, 5);
const heads = trainConfidence(rows, { seed: 1 });

const tiny = { name: "tiny", sha256: "5".repeat(64) };

/** Vectors whose second number identifies riddles. */
function embedded(of: ConfidenceRows, seed: number): ConfidenceRows {
  const values = Float32Array.from(
    testPrompts(of.facts.length, seed).flatMap(({ isHard, noise }) => [3 + noise, isHard ? 40 : 20, -noise]),
  );
  return { ...of, embeddings: { encoder: tiny, dimensions: 3, values } };
}

describe("confidence heads", () => {
  it("tell prompts that a model gets wrong by their words", () => {
    const { prompts, confidence = [] } = heldOutConfidence(heads, fresh);
    expect(prompts).toBe(400);
    const [small, large] = confidence;
    expect(small?.auc).toBeGreaterThan(0.8);
    expect(large?.auc).toBeGreaterThan(0.6);
    expect(small?.averagePrecision).toBeGreaterThan((small?.rightShare ?? 1) + 0.2);
  });

  it("say chances that come true", () => {
    const scores = confidencePredictor(heads).predict(fresh.facts);
    for (const [head, right] of fresh.right.entries()) {
      const said = Array.from(right, (known, row) => ({ chance: scores[2 * row + head]!, known })).sort((a, b) => a.chance - b.chance);
      for (const part of [said.slice(0, 200), said.slice(200)]) {
        const [chance, known] = [
          part.reduce((sum, each) => sum + each.chance, 0) / 200,
          part.reduce((sum, each) => sum + each.known, 0) / 200,
        ];
        expect(Math.abs(chance - known)).toBeLessThan(0.13);
      }
    }
  });

  it("read an encoder's embeddings in place of words", () => {
    const trained = trainConfidence(embedded(rows, 1), { seed: 1 });
    expect(trained.encoder).toEqual({ ...tiny, dimensions: 3 });
    const held = embedded(fresh, 5);
    expect(heldOutConfidence(trained, held).confidence?.[0]?.auc).toBeGreaterThan(0.8);
    const scores = confidenceOfEmbeddings(trained, held.embeddings!.values);
    expect(scores.length).toBe(800);
    expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
  });

  it("do not take the one for the other", () => {
    const trained = trainConfidence(embedded(rows, 1), { seed: 1 });
    expect(() => confidencePredictor(trained)).toThrow("read an encoder's embeddings");
    expect(() => confidenceOfEmbeddings(heads, new Float32Array(3))).toThrow("read words");
    expect(() => confidenceOfEmbeddings(trained, new Float32Array(4))).toThrow("no embeddings of 3 each");
  });

  it("leave prompts out of which nothing is known, and need one of which something is", () => {
    const half = { ...rows, right: rows.right.map((right) => right.map((known, row) => (row % 2 === 0 ? known : Number.NaN))) };
    const firsts = {
      ...rows,
      facts: rows.facts.filter((_, row) => row % 2 === 0),
      right: rows.right.map((right) => right.filter((_, row) => row % 2 === 0)),
    };
    const chances = (of: ConfidenceRows) => confidencePredictor(trainConfidence(of, { seed: 1 })).predict(fresh.facts)[0]!;
    expect(chances(half)).toBeCloseTo(chances(firsts), 1);
    const unknown = { ...rows, right: rows.right.map((right) => right.map(() => Number.NaN)) };
    expect(() => trainConfidence(unknown, { seed: 1 })).toThrow("how well small answers it");
  });

  it("say the usual chance of a prompt whose text is not at hand", () => {
    const [bare] = fresh.facts.map((facts) => ({ ...facts, sketch: null }));
    const chance = confidencePredictor(heads).predict([bare!])[0]!;
    expect(chance).toBeGreaterThan(0.3);
    expect(chance).toBeLessThan(0.95);
  });

  it("are the same for the same rows and seed, to the byte", () => {
    expect(Buffer.from(encodeArtefact(trainConfidence(rows, { seed: 1 }))).equals(encodeArtefact(heads))).toBe(true);
  });
});
