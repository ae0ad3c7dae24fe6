import type { ControlFigures, ControlsForecast } from "@/server/contracts/studio";
import { ABSENT, formatPercent, formatScore, formatScoreBound, formatSeconds, formatSecondsSpan } from "../ui/format";
import type { SlackEstimate } from "./prepareSlack";

/** A figure with the controls in force and with the chosen ones. */
interface ControlFigureRow {
  readonly key: string;
  readonly name: string;
  readonly inForce: string;
  readonly chosen: string;
}

export interface ControlFiguresView {
  readonly rows: readonly ControlFigureRow[];
  /** What the figures are. */
  readonly says: string;
}

interface Asked {
  /** In the order of the policy. */
  readonly models: readonly string[];
  /** Whether requests go through stages, or to one of the models. */
  readonly isCascade: boolean;
  /** By the plan's tables; null where none is known for these values. */
  readonly inForce: SlackEstimate | null;
  readonly chosen: SlackEstimate | null;
  /** Of the chosen values; null: none yet. */
  readonly forecast: ControlsForecast | null;
}

/** What the controls in force and the chosen ones give: simulated where there is a forecast, else the plan's estimate. */
export function prepareControlFigures({ models, isCascade, inForce, chosen, forecast }: Asked): ControlFiguresView | null {
  const [now, then] = forecast === null ? [inForce, chosen].map(estimated) : [forecast.inForce, forecast.changed].map(simulated);
  if (now === undefined || then === undefined || (forecast === null && chosen === null)) return null;
  const shares = models.flatMap((model, at): ControlFigureRow[] => {
    // Every request reaches the first stage.
    if (isCascade && at === 0) return [];
    const name = isCascade ? `share reaching ${model}` : `share answered by ${model}`;
    return [{ key: `share ${at}`, name, inForce: formatPercent(now.share[at]), chosen: formatPercent(then.share[at]) }];
  });
  return {
    rows: [
      { key: "quality", name: "quality", inForce: now.quality, chosen: then.quality },
      { key: "p95", name: "p95 end to end", inForce: now.p95, chosen: then.p95 },
      ...shares,
    ],
    says:
      forecast === null ? "Estimate by the plan's tables, at its own rate." : `Simulated on the engines that serve now. ${forecast.basis}`,
  };
}

interface Texts {
  readonly quality: string;
  readonly p95: string;
  readonly share: readonly number[];
}

const qualityText = (quality: number, low: number): string => `${formatScore(quality)} (at least ${formatScoreBound(low)})`;

const estimated = (estimate: SlackEstimate | null): Texts =>
  estimate === null
    ? { quality: ABSENT, p95: ABSENT, share: [] }
    : { quality: qualityText(estimate.quality, estimate.qualityLow), p95: formatSeconds(estimate.p95Seconds), share: estimate.share };

function simulated({ quality, qualityLow, p95Seconds, p95Band, share, capacityPerSecond }: ControlFigures): Texts {
  if (quality === null || qualityLow === null || p95Seconds === null) {
    const most =
      capacityPerSecond === null ? "a model has no engine" : `the engines sustain ${Number(capacityPerSecond.toPrecision(2))} requests/s`;
    return { quality: ABSENT, p95: `overloaded: ${most}`, share };
  }
  const within = p95Band === null ? "" : ` (${formatSecondsSpan(p95Band)})`;
  return { quality: qualityText(quality, qualityLow), p95: `${formatSeconds(p95Seconds)}${within}`, share };
}
