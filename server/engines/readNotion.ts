import type { Notion } from "./engineMapping";
import type { PromSample, PromText } from "./promText";

/** The samples of `name` that count for a notion. */
export function seriesOf(metrics: PromText, name: string, notion: Notion): readonly PromSample[] {
  const only = Object.entries(notion.only ?? {});
  const except = Object.entries(notion.except ?? {});
  return (metrics.byName.get(name) ?? []).filter(
    ({ labels }) =>
      only.every(([label, values]) => labels[label] === undefined || values.includes(labels[label])) &&
      except.every(([label, values]) => labels[label] === undefined || !values.includes(labels[label])),
  );
}

/** A gauge or counter as one value over its series; null where none of them holds a number: absent is never zero. */
export function readNumber(metrics: PromText, notion: Notion): number | null {
  const values = seriesOf(metrics, notion.name, notion)
    .map((sample) => sample.value)
    .filter(Number.isFinite);
  if (values.length === 0) return null;
  return notion.combine === "sum" ? values.reduce((total, value) => total + value, 0) : Math.max(...values);
}
