import { mean } from "@/solver/numeric/quantile";
import { table } from "../lib/tables";
import cases from "./cases.json" with { type: "json" };
import type { PartRow } from "./race";

/** Geometric mean of the mean latencies of all programs, by weight and load; and the weight with the least over all loads. */
export function weightTable(rows: readonly PartRow[]): { readonly text: string; readonly best: number } {
  const { delayWeights } = cases.tuning;
  const latency = (weight: number, loads: readonly number[]): number => {
    const own = rows.filter(({ system, part, load }) => system === `${weight}` && part === "all" && loads.includes(load));
    return Math.exp(mean(own.map(({ meanSeconds }) => Math.log(mean(meanSeconds)))));
  };
  const all = delayWeights.map((weight) => ({ weight, seconds: latency(weight, cases.loads) }));
  const [best] = all.toSorted((a, b) => a.seconds - b.seconds);
  const lines = all.map(({ weight, seconds }) => [
    `${weight}`,
    ...cases.loads.map((load) => latency(weight, [load]).toFixed(2)),
    seconds.toFixed(2),
  ]);
  return {
    text: table(["weight", ...cases.loads.map((load) => `load ${load}: mean, s`), "all loads: mean, s"], lines),
    best: best?.weight ?? Number.NaN,
  };
}
