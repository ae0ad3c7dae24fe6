import { counted, secondsText, usdText, wholePercent } from "@/solver/wording/wording";
import type { Knobs } from "../explore/exploration";

/** Figures of a plan that a slack changes. */
export interface SlackFigures {
  readonly latencySeconds: number;
  /** The quality that is compared with the floor, 0..100. */
  readonly quality: number;
  readonly gpus: number;
  readonly costUsdPerRequest: number;
}

interface Bought {
  /** Latency allowed by the slack, in seconds; below the slack's own where the budget caps it. */
  readonly limitSeconds: number;
  readonly fastest: SlackFigures;
  readonly chosen: SlackFigures;
}

/** Differences of quality below this are not told apart in sentences. */
const LEAST_POINTS = 0.05;

/** What a slack allows and what it buys, in one sentence. */
export function slackSays({ kind, slack = 0 }: Pick<Knobs, "kind" | "slack">, { limitSeconds, fastest, chosen }: Bought): string {
  const capped = limitSeconds < (1 + slack) * fastest.latencySeconds ? ", the budget" : "";
  const allows = `Slack ${wholePercent(slack)}: p95 may rise from ${secondsText(fastest.latencySeconds)}, the fastest at this floor, to ${secondsText(limitSeconds)}${capped}`;
  const points = chosen.quality - fastest.quality;
  const gpus = fastest.gpus - chosen.gpus;
  const saved = fastest.costUsdPerRequest - chosen.costUsdPerRequest;
  const fewer = gpus > 0 ? [counted(gpus, "GPU")] : [];
  const bought = kind === "cost-under-both" ? [] : [...(points >= LEAST_POINTS ? [`${points.toFixed(1)} points`] : []), ...fewer];
  const price = gpus < 0 ? `, on ${counted(-gpus, "GPU")} more` : "";
  if (bought.length > 0) return `${allows}; it buys ${bought.join(" and ")}${price}.`;
  return saved > 0 ? `${allows}; it saves ${[usdText(saved), ...fewer].join(" and ")}${price}.` : `${allows}; nothing better fits into it.`;
}
