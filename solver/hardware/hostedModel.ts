import { z } from "zod";
import { keyReferenceSchema } from "@/solver/wording/keyReference";
import { machineName } from "@/solver/wording/names";

const mostUsdPerMillion = 100_000;
const mostUsd = 1_000_000;
const mostPerMinute = 1_000_000_000;

/** Tokens of an answer that a hosted model may write where the client asks for no fewer. */
const usualMostOutputTokens = 4096;
/** Providers ask for pauses of seconds up to a minute; a longer one is an outage. */
const usualMostPauseSeconds = 30;

/** USD for a million tokens. */
const price = z.number().nonnegative().max(mostUsdPerMillion);
const budget = z.number().positive().max(mostUsd);

/** The terms of a provider that serves a model: its API, prices, limits and speed. */
export const hostedEngineSchema = z.strictObject({
  /** `openai`: chat completions; `anthropic`: the Messages API. */
  kind: z.enum(["openai", "anthropic"]),
  usdPerMillionInputTokens: price,
  usdPerMillionOutputTokens: price,
  /** The provider's rate limits; absent: none is known, and its answers 429 alone bound the rate. */
  requestsPerMinute: z.int().positive().max(mostPerMinute).optional(),
  tokensPerMinute: z.int().positive().max(mostPerMinute).optional(),
  /** Most money in an hour and in a day of the calendar in UTC; absent: no cap. */
  usdPerHour: budget.optional(),
  usdPerDay: budget.optional(),
  /** Most tokens of an answer; sent where the client asks for none or more, so that money can be reserved for it. */
  mostOutputTokens: z.int().positive().max(1_000_000).default(usualMostOutputTokens),
  /** Longest pause asked for by the provider that requests wait for; in a longer one its stage is lost. */
  mostPauseSeconds: z.number().nonnegative().max(3600).default(usualMostPauseSeconds),
  /** Seconds to the first token and for each token after it, entered or measured; plans need both. */
  ttftSeconds: z.number().positive().max(600).optional(),
  secondsPerOutputToken: z.number().positive().max(60).optional(),
});

/** A model that a provider serves. Its address is without `/v1`. */
export const hostedModelSchema = hostedEngineSchema.extend({
  model: machineName,
  url: z.url(),
  /** The provider's own name of the model, if it differs. */
  servedName: z.string().min(1).max(500).optional(),
  key: keyReferenceSchema.optional(),
  /** Requests that it answers at once. */
  maxInFlight: z.int().positive().max(100_000),
});

export type HostedEngine = z.infer<typeof hostedEngineSchema>;
export type HostedModel = z.infer<typeof hostedModelSchema>;

/** USD for tokens at a price. */
export const hostedUsd = (
  { usdPerMillionInputTokens, usdPerMillionOutputTokens }: Pick<HostedEngine, "usdPerMillionInputTokens" | "usdPerMillionOutputTokens">,
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
): number => (inputTokens * usdPerMillionInputTokens + outputTokens * usdPerMillionOutputTokens) / 1e6;
