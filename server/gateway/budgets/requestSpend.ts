import type { Decision, GatewayConfig, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { ensemblePrefix } from "@/server/contracts/gateway/gatewayEnsembles";
import type { ModelRequest } from "../http/modelRequest";
import { MovingMean } from "../lib/movingMean";
import { answerCost, chargedUsd, requestCharges, scoreCost } from "../serving/requestCost";
import type { Serving } from "../serving/serving";
import { nanoPerUsd, nothing, type Spend, sum } from "./keyBudget";

/** Tokens of an answer while no request for the model has taught any. */
const unknownTokens = 256;

/** No limit of a key is larger, and sums of such amounts are exact. */
const mostTokensReserved = 1e12 + 1;
const mostNanoReserved = 1e6 * nanoPerUsd + 1;

/** Tokens and USD as a spend. */
export const spendOf = (tokens: number, usd: number): Spend => ({
  tokens: Math.min(mostTokensReserved, tokens),
  nanoUsd: Math.min(mostNanoReserved, Math.round(usd * nanoPerUsd)),
});

/** What a request may use, before it is admitted. */
export interface ExpectedSpend {
  readonly spend: Spend;
  /** The part of it that is not a guess: of the prompt, and of nothing more. */
  readonly prompt: Spend;
  /** Whether the length of its answer is the mean of others, and not its client's limit. */
  readonly isGuess: boolean;
  /** The served name under which its answer teaches. */
  readonly name: string;
  /** Whether it is answered by requests of its own, as an ensemble's is. */
  readonly hasParts: boolean;
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
    const { name, models, calls, hasParts } = served;
    const { inputTokens, mostTokens, body } = asked;
    const answers = typeof body.n === "number" ? body.n : 1;
    const isText = asked.endpoint.text !== null;
    const length = isText ? answers * Math.ceil(mostTokens ?? this.#means.get(name)?.mean ?? unknownTokens) : 0;
    const expected = (outputTokens: number): Spend => {
      const costs = models.map((model) => answerCost(model, { inputTokens, outputTokens }, config) ?? 0);
      const usd = Math.max(...costs) + scoreCost(config);
      return spendOf(calls * (inputTokens + outputTokens), calls * usd);
    };
    const unpriced = models.find((model) => answerCost(model, { inputTokens, outputTokens: 0 }, config) === null) ?? null;
    return { spend: expected(length), prompt: expected(0), isGuess: isText && mostTokens === null, name, hasParts, unpriced };
  }

  /** Learns the length of an answer that a client got. */
  learn(name: string, { stages }: Pick<Decision, "stages">): void {
    const outputTokens = stages.at(-1)?.outputTokens ?? null;
    if (outputTokens === null) return;
    const mean = this.#means.get(name) ?? new MovingMean();
    mean.note(outputTokens);
    this.#means.set(name, mean);
  }

  #servedBy(asked: ModelRequest): Served | null {
    const served = this.#serving.serverOf(asked);
    if (served !== undefined) return { name: served.name, models: served.models, calls: 1, hasParts: false };
    const ensemble = this.#serving.ensembles.find(({ name }) => `${ensemblePrefix}${name}` === asked.model);
    if (ensemble === undefined) return null;
    const models = [...ensemble.experts, ensemble.aggregator.model];
    return { name: asked.model, models, calls: ensemble.expertsPerQuestion + 1, hasParts: true };
  }
}

interface Served {
  readonly name: string;
  /** Those that may answer. */
  readonly models: readonly string[];
  readonly calls: number;
  readonly hasParts: boolean;
}

/** What an answer counts as at least whose tokens no engine reported. */
export interface UnknownSpend {
  /** Of a whole answer. */
  readonly whole: Spend;
  /** Of an answer that was broken off, or given up while a judge read it: because its client left, for example. */
  readonly ended: Spend;
}

/**
 * What a finished request used: the sum of its stages. What an engine wrote of an answer that was broken off is not known, even where it
 * reported tokens on the way; so it counts at least as reserved, and nobody escapes a limit by leaving.
 */
export function usedSpend(decision: Omit<Decision, "sequence">, unknown: UnknownSpend, config: GatewayConfig | null): Spend {
  const { stages, inputTokens = 0 } = decision;
  return stages.map((stage) => stageSpend(stage, { inputTokens, unknown, config })).reduce(sum, nothing);
}

interface Spending {
  /** Of the request, as the gateway estimates them. */
  readonly inputTokens: number;
  readonly unknown: UnknownSpend;
  readonly config: GatewayConfig | null;
}

function stageSpend(stage: StageRecord, { inputTokens, unknown, config }: Spending): Spend {
  const { failure, verdict } = stage;
  const isEnded = failure === "ended" || failure === "broken-stream";
  // The charges leave failed attempts out, though an engine has worked on one that was ended.
  const charges = config === null ? [] : requestCharges([isEnded ? { ...stage, verdict: "accepted" } : stage], inputTokens, config);
  const tokens = charges.reduce((all, charge) => all + (charge.inputTokens ?? 0) + (charge.outputTokens ?? 0), 0);
  const known = spendOf(tokens, chargedUsd(charges.filter(({ usd }) => usd !== null)) ?? 0);
  if (isEnded) return larger(known, unknown.ended);
  return verdict !== "failed" && stage.inputTokens === null ? larger(known, unknown.whole) : known;
}

/** The larger amount of each unit. */
export const larger = (one: Spend, other: Spend): Spend => ({
  tokens: Math.max(one.tokens, other.tokens),
  nanoUsd: Math.max(one.nanoUsd, other.nanoUsd),
});
