import { hourBand, lengthBand, OTHERS, type PromptFacts, type Stratifier, stratumOf } from "./stratumOf";

/** Categories, and strata, beyond these numbers are merged. */
const MAX_CATEGORIES = 50;
const MAX_STRATA = 200;
const MAX_SEPARATE_CATEGORIES = 1000;

/** Prompts of a file counted by category, length and hour, in bounded memory for any number of categories. */
export interface StrataCount {
  add(facts: PromptFacts): void;
  /** Largest first, at most 50 by name, then `others`. Prompts without a category are left out. */
  categories(): readonly { readonly name: string; readonly prompts: number }[];
  /** Strata by some of the three: the number of prompts by name. */
  strataBy(by: readonly Stratifier[]): Strata;
}

interface Strata {
  readonly counts: ReadonlyMap<string, number>;
  of(facts: PromptFacts): string;
}

/**
 * Counts prompts by stratum. A category that first occurs after 1000 others counts as `others`: a field with a unique value
 * in each line is no category.
 */
export function countStrata(): StrataCount {
  const byCategory = new Map<string, { prompts: number; readonly cells: Map<string, { readonly facts: PromptFacts; prompts: number }> }>();

  function largestCategories() {
    const named = [...byCategory].filter(([category]) => category !== "" && category !== OTHERS);
    return named.sort(([a, { prompts: ofA }], [b, { prompts: ofB }]) => ofB - ofA || (a < b ? -1 : 1)).slice(0, MAX_CATEGORIES);
  }

  return {
    add(facts) {
      const isSeparate = byCategory.has(facts.category) || byCategory.size < MAX_SEPARATE_CATEGORIES;
      const category = isSeparate ? facts.category : OTHERS;
      const counted = byCategory.get(category) ?? { prompts: 0, cells: new Map() };
      byCategory.set(category, counted);
      counted.prompts += 1;
      const key = `${lengthBand(facts.characters)} ${hourBand(facts.atMs)}`;
      const cell = counted.cells.get(key) ?? { facts: { ...facts, category }, prompts: 0 };
      counted.cells.set(key, cell);
      cell.prompts += 1;
    },
    categories() {
      const largest = largestCategories().map(([name, { prompts }]) => ({ name, prompts }));
      const named = [...byCategory].reduce((sum, [category, { prompts }]) => sum + (category === "" ? 0 : prompts), 0);
      const others = named - largest.reduce((sum, { prompts }) => sum + prompts, 0);
      return others === 0 ? largest : [...largest, { name: OTHERS, prompts: others }];
    },
    strataBy(by) {
      const kept = new Set(largestCategories().map(([category]) => category));
      const nameOf = (facts: PromptFacts): string => stratumOf(facts, by, kept);
      const whole = new Map<string, number>();
      for (const { cells } of byCategory.values()) {
        for (const { facts, prompts } of cells.values()) whole.set(nameOf(facts), (whole.get(nameOf(facts)) ?? 0) + prompts);
      }
      const largest = [...whole].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1));
      const counts = new Map(largest.slice(0, MAX_STRATA));
      for (const [, prompts] of largest.slice(MAX_STRATA)) counts.set(OTHERS, (counts.get(OTHERS) ?? 0) + prompts);
      return {
        counts,
        of(facts) {
          const name = nameOf(facts);
          return counts.has(name) ? name : OTHERS;
        },
      };
    },
  };
}
