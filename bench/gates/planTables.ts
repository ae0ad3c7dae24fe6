import { table } from "../lib/tables";
import type { PlannedCase, PlannedGateFigures } from "./planLadder";

/** Relative p95 of the best gate's plan against the judge's, both held out; null where either has none. */
export function relativeP95({ judge, best }: PlannedCase): number | null {
  const [before, after] = [judge?.heldP95 ?? null, best?.heldP95 ?? null];
  return before === null || after === null ? null : after / before;
}

/** One row for each case: mean over the splits. */
export const planTable = (cases: readonly PlannedCase[]): string =>
  table(
    [
      "ladder",
      "floor",
      "requests/s",
      "gates taken",
      "judge: p95, quality, sent on %",
      "best gate: p95, quality, sent on %",
      "p95 change",
      "floor held: judge, best",
    ],
    byCase(cases).map((own) => {
      const [first] = own;
      const changes = own.flatMap((one) => relativeP95(one) ?? []);
      const held = (of: (one: PlannedCase) => PlannedGateFigures | null): string =>
        `${own.filter((one) => (of(one)?.heldQuality ?? 0) >= one.floor).length} of ${own.length}`;
      return [
        first?.ladder ?? "",
        String(first?.floor ?? ""),
        String(first?.requestsPerSecond ?? ""),
        own.map(({ best }) => (best === null ? "no plan" : gateOf(best))).join(", "),
        meansText(own.map(({ judge }) => judge)),
        meansText(own.map(({ best }) => best)),
        changes.length === 0 ? "-" : percent(mean(changes) - 1),
        `${held(({ judge }) => judge)}, ${held(({ best }) => best)}`,
      ];
    }),
  );

/** GPUs of both plans, of the first split. */
export const gpuTable = (cases: readonly PlannedCase[]): string =>
  table(
    ["ladder", "floor", "requests/s", "judge plan", "best gate's plan"],
    byCase(cases).flatMap(([first]) =>
      first === undefined
        ? []
        : [[first.ladder, String(first.floor), String(first.requestsPerSecond), gpusText(first.judge), gpusText(first.best)]],
    ),
  );

export function byCase(cases: readonly PlannedCase[]): readonly (readonly PlannedCase[])[] {
  const groups = new Map<string, PlannedCase[]>();
  for (const one of cases) {
    const key = `${one.load} ${one.ladder} ${one.floor}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const percent = (share: number): string => `${share >= 0 ? "+" : "-"}${Math.abs(100 * share).toFixed(0)} %`;

function meansText(of: readonly (PlannedGateFigures | null)[]): string {
  const known = of.flatMap((one) => (one === null || one.heldP95 === null ? [] : [one]));
  if (known.length === 0) return "-";
  const p95 = mean(known.map(({ heldP95 }) => heldP95 ?? 0));
  const quality = mean(known.map(({ heldQuality }) => heldQuality ?? 0));
  const share = mean(known.map(({ heldShare }) => heldShare ?? 0));
  return `${p95.toFixed(2)} s, ${quality.toFixed(1)}, ${(100 * share).toFixed(0)}`;
}

/** One model alone has no gate. */
const gateOf = ({ gate, thresholds }: PlannedGateFigures): string =>
  thresholds.length === 0 ? "one model" : `${gate} at ${thresholds.join(", ")}`;

const gpusText = (of: PlannedGateFigures | null): string =>
  of === null
    ? "no plan"
    : `${gateOf(of)}: ${Object.entries(of.gpusByModel)
        .map(([model, gpus]) => `${model} ${gpus}`)
        .join(", ")}`;
