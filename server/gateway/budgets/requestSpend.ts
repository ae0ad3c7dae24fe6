import type { Decision, GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { ensemblePrefix } from "@/server/contracts/gateway/gatewayEnsembles";
import type { ModelRequest } from "../http/modelRequest";
import { MovingMean } from "../lib/movingMean";
import { answerCost, chargedUsd, requestCharges, scoreCost } from "../serving/requestCost";
import type { Serving } from "../serving/serving";
import { nanoPerUsd, type Spend } from "./keyBudget";

/** Tokens of an answer while no request for the model has taught any. */
const unknownTokens = 256;

const nanoOf = (usd: number): number => Math.round(usd * nanoPerUsd);

/** What a request may use, before it is admitted. */
export interface ExpectedSpend {
  readonly spend: Spend;
  /** Whether the length of its answer is the mean of others, and not its client's limit. */
  readonly isGuess: boolean;
  /** The served name under which its answer teaches. */
  readonly name: string;
  /** A model that may answer it and has no price; null: each has one. */
  readonly unpriced: string | null;
}

/** Expects what requests use: one answer of the dearest model that may give it, as long as the client allows, or as the mean of earlier ones. */
export class SpendForecast {
  readonly #serving: Serving;
  readonly #means = new Map<string, MovingMean>();

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  /** Null for a name that nothing is served under: the request is refused for that. */
  of(asked: ModelRequest): ExpectedSpend | null {
    const { config } = this.#serving;
    const served = this.#servedBy(asked);
    if (served === null || config === null) return null;
    const { name, models, calls } = served;
    const { inputTokens, mostTokens, body } = asked;
    const answers = typeof body.n === "number" && body.n > 1 ? Math.ceil(body.n) : 1;
    const isText = asked.endpoint.text !== null;
    const length = isText ? answers * Math.ceil(mostTokens ?? this.#means.get(name)?.mean ?? unknownTokens) : 0;
    const costs = models.map((model) => answerCost(model, { inputTokens, outputTokens: length }, config));
    const usd = Math.max(...costs.map((cost) => cost ?? 0)) + scoreCost(config);
    const unpriced = models.find((_, at) => costs[at] === null) ?? null;
    const spend = { tokens: calls * (inputTokens + length), nanoUsd: calls * nanoOf(usd) };
    return { spend, isGuess: isText && mostTokens === null, name, unpriced };
  }

  /** Learns the length of an answer that a client got. */
  learn(name: string, { stages }: Pick<Decision, "stages">): void {
    const outputTokens = stages.at(-1)?.outputTokens ?? null;
    if (outputTokens === null) return;
    const mean = this.#means.get(name) ?? new MovingMean();
    mean.note(outputTokens);
    this.#means.set(name, mean);
  }

  /** The models that may answer, and the number of calls of an ensemble. */
  #servedBy(asked: ModelRequest): { readonly name: string; readonly models: readonly string[]; readonly calls: number } | null {
    const served = this.#serving.serverOf(asked);
    if (served !== undefined) return { name: served.name, models: served.models, calls: 1 };
    const ensemble = this.#serving.ensembles.find(({ name }) => `${ensemblePrefix}${name}` === asked.model);
    if (ensemble === undefined) return null;
    const models = [...ensemble.experts, ensemble.aggregator.model];
    return { name: asked.model, models, calls: ensemble.expertsPerQuestion + 1 };
  }
}

/**
 * What a finished request used. Where an engine did not report the tokens of an answer, or a client left while it was read, that is not known:
 * it counts at least as reserved, so that nobody escapes a limit by leaving.
 */
export function usedSpend(decision: Omit<Decision, "sequence">, reserved: Spend, config: GatewayConfig | null): Spend {
  const { stages, inputTokens = 0 } = decision;
  const charges = config === null ? [] : requestCharges(stages, inputTokens, config);
  const tokens = charges.reduce((sum, charge) => sum + (charge.inputTokens ?? 0) + (charge.outputTokens ?? 0), 0);
  const known = charges.filter(({ usd }) => usd !== null);
  const spend = { tokens, nanoUsd: nanoOf(chargedUsd(known) ?? 0) };
  const isPartial = stages.some(({ verdict, at, inputTokens: counted }) => {
    return counted === null && (verdict !== "failed" || at?.firstToken !== undefined);
  });
  if (!isPartial) return spend;
  return { tokens: Math.max(spend.tokens, reserved.tokens), nanoUsd: Math.max(spend.nanoUsd, reserved.nanoUsd) };
}
