import fc from "fast-check";
import { expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { chooseToken, scoreOf } from "./chooseToken";
import type { Sampling } from "./request";

const plain: Sampling = { temperature: 1, topP: 1, topK: 0, minP: 0, seed: 1 };
const logitsOf = (values: readonly number[]) => new Map(values.map((logit, token) => [token, logit]));
const someLogits = fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 2, maxLength: 12 });

/** How often each token is drawn in 4000 draws. */
function shares(values: readonly number[], sampling: Sampling, ends: ((token: number) => boolean) | null = null): readonly number[] {
  const random = seededRandom(11);
  const counts = values.map(() => 0);
  for (let draw = 0; draw < 4000; draw += 1) {
    const { token } = chooseToken({ logits: logitsOf(values) }, { request: { sampling, top: null }, random, ends });
    counts[token] = (counts[token] ?? 0) + 1 / 4000;
  }
  return counts;
}

it("draws tokens by their probabilities at the temperature", () => {
  const logits = [Math.log(0.5), Math.log(0.3), Math.log(0.2)];
  expect(shares(logits, plain)).toEqual([0.5, 0.3, 0.2].map((share) => expect.closeTo(share, 1)));
  const squares = [0.25, 0.09, 0.04].map((value) => value / 0.38);
  expect(shares(logits, { ...plain, temperature: 0.5 })).toEqual(squares.map((share) => expect.closeTo(share, 1)));
});

it("draws only what top k, top p and min p leave, and no token that may not end the answer", () => {
  const logits = [Math.log(0.5), Math.log(0.3), Math.log(0.2)];
  expect(shares(logits, { ...plain, topK: 1 })).toEqual([expect.closeTo(1), 0, 0]);
  expect(shares(logits, { ...plain, topP: 0.6 })[2]).toBe(0);
  expect(shares(logits, { ...plain, minP: 0.5 })[2]).toBe(0);
  expect(shares(logits, plain, (token) => token === 0)[0]).toBe(0);
});

it("gives log probabilities that are those of the whole distribution, with the token among its alternatives", () => {
  fc.assert(
    fc.property(someLogits, fc.nat(), fc.nat({ max: 5 }), (values, pick, top) => {
      const token = pick % values.length;
      const total = values.reduce((sum, logit) => sum + Math.exp(logit), 0);
      const score = scoreOf({ logits: logitsOf(values) }, token, top);
      expect(score.logprob).toBeCloseTo((values[token] ?? 0) - Math.log(total), 6);
      expect(score.top.some((one) => one.token === token)).toBe(true);
      expect(score.top.length).toBeLessThanOrEqual(top + 1);
    }),
  );
});

it("chooses the likeliest token that does not end the answer where it may not end", () => {
  const request = { sampling: { ...plain, temperature: 0 }, top: null };
  const answer = { token: 2, logits: logitsOf([1, 2, 3]) };
  expect(chooseToken(answer, { request, random: seededRandom(1), ends: null }).token).toBe(2);
  expect(chooseToken(answer, { request, random: seededRandom(1), ends: (token) => token === 2 }).token).toBe(1);
});
