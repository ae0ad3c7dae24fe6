import { type Interval, qualityInterval } from "./contentIntervals";
import type { OutcomeTable } from "./workload";

/** One category of prompts. */
export interface CategoryQuality {
  /** null: all categories that are too small to be named. */
  readonly name: string | null;
  /** Number of categories in it: 1, or the number of those too small. */
  readonly categories: number;
  readonly prompts: number;
  /** Mean label of each model, 0..100 at 90 %, in the order of the table. */
  readonly quality: readonly Interval[];
}

/** Quality by model in each category, largest first; those beyond `most` categories are one row, last. */
export function categoryQualities({ categories, models }: OutcomeTable, most: number): readonly CategoryQuality[] {
  const rows = new Map<string, number[]>();
  for (const [row, name] of categories.entries()) {
    const known = rows.get(name);
    if (known === undefined) rows.set(name, [row]);
    else known.push(row);
  }
  const largestFirst = [...rows].sort(([, a], [, b]) => b.length - a.length);
  const quality = (of: readonly number[]): readonly Interval[] =>
    models.flatMap(({ label }) => qualityInterval(Float64Array.from(of, (row) => label[row] ?? 0)) ?? []);
  const named = largestFirst.slice(0, most).map(([name, of]) => ({ name, categories: 1, prompts: of.length, quality: quality(of) }));
  const others = largestFirst.slice(most);
  const rest = others.flatMap(([, of]) => of);
  return others.length === 0 ? named : [...named, { name: null, categories: others.length, prompts: rest.length, quality: quality(rest) }];
}
