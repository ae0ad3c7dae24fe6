import * as fc from "fast-check";
import { expect, test } from "vitest";
import { countStrata } from "./countStrata";
import { type PromptFacts, stratumOf } from "./stratumOf";

const facts = fc.record({
  category: fc.constantFrom("", "code", "chat", "others", "law"),
  characters: fc.integer({ min: 0, max: 3_000_000 }),
  atMs: fc.option(fc.integer({ min: -1e12, max: 4e12 })),
});
const by = fc.subarray(["category", "length", "time"] as const);
const counted = (all: readonly PromptFacts[]) => {
  const count = countStrata();
  for (const one of all) count.add(one);
  return count;
};

test("each prompt is in a stratum that was counted, and the counts are those of the prompts", () => {
  fc.assert(
    fc.property(fc.array(facts, { maxLength: 400 }), by, (all, stratifiers) => {
      const strata = counted(all).strataBy(stratifiers);
      const again = new Map<string, number>();
      for (const one of all) again.set(strata.of(one), (again.get(strata.of(one)) ?? 0) + 1);
      expect(again).toEqual(new Map(strata.counts));
    }),
  );
});

test("a thousand categories are fifty and others, the largest first", () => {
  const all = Array.from({ length: 30_000 }, (_, at) => ({
    category: `c${Math.floor(Math.sqrt(at % 9973))}`,
    characters: 100,
    atMs: null,
  }));
  const count = counted(all);
  const categories = count.categories();
  expect(categories).toHaveLength(51);
  expect(categories.at(-1)?.name).toBe("others");
  expect(categories.reduce((sum, { prompts }) => sum + prompts, 0)).toBe(all.length);
  const named = categories.slice(0, 50).map(({ prompts }) => prompts);
  expect(named).toEqual([...named].sort((a, b) => b - a));
  expect(count.strataBy(["category"]).counts.size).toBe(51);
});

test("a category of its own for each prompt takes no memory of its own and is counted all the same", () => {
  const count = countStrata();
  for (let at = 0; at < 200_000; at++) count.add({ category: `id-${at}`, characters: 100, atMs: null });
  const categories = count.categories();
  expect(categories).toHaveLength(51);
  expect(categories.at(-1)?.prompts).toBe(199_950);
  expect([...count.strataBy(["category"]).counts.values()].reduce((sum, one) => sum + one, 0)).toBe(200_000);
});

test("there are never more than 201 strata", () => {
  const all = Array.from({ length: 20_000 }, (_, at) => ({
    category: `c${at % 60}`,
    characters: 2 ** (at % 17),
    atMs: (at % 24) * 3_600_000,
  }));
  const { counts } = counted(all).strataBy(["category", "length", "time"]);
  expect(counts.size).toBe(201);
  expect([...counts.values()].reduce((sum, one) => sum + one, 0)).toBe(all.length);
});

test("a stratum is told in words", () => {
  const one = { category: "code", characters: 300, atMs: Date.UTC(2026, 0, 1, 7, 59) };
  expect(stratumOf(one, ["category", "length", "time"], new Set(["code"]))).toBe("code, 256 to 511 characters, 04:00 to 08:00 UTC");
  expect(stratumOf(one, [], new Set())).toBe("all");
  expect(stratumOf({ category: "", characters: 63, atMs: null }, ["category", "length", "time"], new Set())).toBe(
    "no category, under 64 characters, no time",
  );
  expect(stratumOf({ ...one, characters: 2048 }, ["length"], new Set())).toBe("2,048 to 4,095 characters");
});
