import { PLANNED_LOAD } from "@/solver/engine/plannedLoad";
import { type HostedModel, hostedUsd } from "@/solver/hardware/hostedModel";
import { type PlanningSample, promptsReaching } from "../routing/routing";
import type { RoutedCascade } from "./deployedRows";

interface Hosting {
  readonly sample: PlanningSample;
  readonly requestsPerSecond: number;
  readonly hosted?: readonly (HostedModel | null)[] | undefined;
}

/** What the requests that reach a hosted stage take of its provider, on average over all requests. */
export interface HostedUse {
  /** Position in the cascade. */
  readonly stage: number;
  readonly model: HostedModel;
  readonly requestsPerSecond: number;
  readonly tokensPerSecond: number;
  readonly usdPerHour: number;
}

/** The use of each hosted stage of a cascade; empty where every stage is the cluster's own. */
export function hostedUses({ sample, requestsPerSecond, hosted }: Hosting, of: RoutedCascade): readonly HostedUse[] {
  return of.stages.flatMap((index, stage) => {
    const model = hosted?.[index];
    if (model === null || model === undefined) return [];
    let tokens = 0;
    let usd = 0;
    const prompts = promptsReaching(of.routed, stage);
    for (const prompt of prompts) {
      const inputTokens = sample.inputTokens[prompt] ?? 0;
      const outputTokens = sample.outputTokens[index]?.[prompt] ?? 0;
      tokens += inputTokens + outputTokens;
      usd += hostedUsd(model, { inputTokens, outputTokens });
    }
    const perPrompt = requestsPerSecond / sample.prompts;
    return [
      {
        ...{ stage, model, requestsPerSecond: perPrompt * prompts.length },
        ...{ tokensPerSecond: perPrompt * tokens, usdPerHour: 3600 * perPrompt * usd },
      },
    ];
  });
}

/** USD in an hour for the tokens of a cascade's hosted stages. */
export const hostedUsdPerHour = (hosting: Hosting, of: RoutedCascade): number =>
  hostedUses(hosting, of).reduce((sum, { usdPerHour }) => sum + usdPerHour, 0);

/** Hours of a day whose money a cap by day pays for. */
const HOURS = 24;

/** Whether a provider carries a use: its rate limits at the planned load, and the money of its caps at the planned rate. */
export function isCarried({ model, requestsPerSecond, tokensPerSecond, usdPerHour }: HostedUse): boolean {
  const { requestsPerMinute, tokensPerMinute, usdPerHour: hourly, usdPerDay: daily } = model;
  const within = (use: number, most: number | undefined): boolean => most === undefined || use <= most;
  return (
    within((60 * requestsPerSecond) / PLANNED_LOAD, requestsPerMinute) &&
    within((60 * tokensPerSecond) / PLANNED_LOAD, tokensPerMinute) &&
    within(usdPerHour, hourly) &&
    within(HOURS * usdPerHour, daily)
  );
}
