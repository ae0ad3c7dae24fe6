import { describe, expect, it } from "vitest";
import { meaningsIn } from "./fieldComments";

const source = `
const price = z.object({
  /** Confidence for each floor of load. */
  weight: z.number().max(1), // at most {
  dampingSeconds: z.number(),
});
interface Scored {
  /** Of the answer. */
  readonly score: number;
  readonly share?: number;
}
const scorer = z.object({ mean: z.number(), weight: z.number() });
const whole = z.object({
  ...common,
  price,
  nested: z.object({ inner: z.number() }),
  /** How an answer
   * is read. */
  answer: z.enum(["a"]),
});`;

const meaning = meaningsIn([source]);

describe("meaningsIn", () => {
  it("takes a comment for the object that declares the field, whatever a spread adds", () => {
    expect(meaning("weight", new Set(["weight", "dampingSeconds"]))).toBe("Confidence for each floor of load.");
    expect(meaning("score", new Set(["score", "share"]))).toBe("Of the answer.");
    expect(meaning("answer", new Set(["price", "nested", "answer", "spread"]))).toBe("How an answer is read.");
  });

  it("leaves a field of the same name in another object without one", () => {
    expect(meaning("weight", new Set(["mean", "weight"]))).toBe("");
    expect(meaning("weight", new Set(["weight"]))).toBe("");
    expect(meaning("weight", new Set(["weight", "dampingSeconds", "mean"]))).toBe("");
    expect(meaning("answer", new Set(["inner", "answer"]))).toBe("");
    expect(meaning("unknown", new Set(["unknown"]))).toBe("");
  });

  it("takes none of two different comments", () => {
    const twice = meaningsIn([source, "interface Price { /** Something else. */ weight: number; dampingSeconds: number }"]);
    expect(twice("weight", new Set(["weight", "dampingSeconds"]))).toBe("");
  });
});
