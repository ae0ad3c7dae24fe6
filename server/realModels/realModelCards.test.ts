import { expect, test } from "vitest";
import { activeParams, outputParams } from "@/solver/hardware/architecture";
import { catalogueOf, misplaced, noUserCards } from "@/solver/hardware/catalogue";
import { realModelCards, withRealModelCards } from "./realModelCards";

test("the cards join the user's once, in place of cards with their names, and no shipped card has one of them", () => {
  const own = { ...realModelCards[0]!, maxContextTokens: 7 };
  const other = { ...own, id: "my-model" };
  const cards = withRealModelCards({ ...noUserCards, models: [own, other] });
  expect(cards.models).toEqual([other, ...realModelCards]);
  expect(withRealModelCards(cards)).toEqual({ ...cards, models: [other, ...realModelCards] });
  expect(misplaced(cards)).toBeUndefined();
});

test("a token costs the large model about eight times what it costs the small one", () => {
  const { models } = catalogueOf(withRealModelCards(noUserCards));
  const work = (id: string) => activeParams(models[id]!.architecture) - 2 * outputParams(models[id]!.architecture);
  expect(work("arith-large") / work("arith-small")).toBeCloseTo(8, 1);
});
