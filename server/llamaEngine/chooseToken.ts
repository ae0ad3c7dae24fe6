import type { Random } from "@/solver/numeric/random";
import type { TokenQuery, TokenResult } from "./binding";
import type { GenerationRequest, Sampling, ScoredToken, TokenScore } from "./request";

/** Models have a handful of tokens that end an answer; so many of the likeliest tokens hold one that does not. */
const candidatesBeforeEnd = 64;

/** The largest magnitude that JSON clients of the OpenAI API expect for "impossible". */
const leastLogprob = -9999;

/** Query of the distribution that chooses the next token; `mayEnd`: whether a token that ends the answer may be chosen. */
export function queryFor({ sampling, top }: Pick<GenerationRequest, "sampling" | "top">, mayEnd: boolean): TokenQuery {
  if (sampling.temperature > 0) return { logits: true };
  if (mayEnd && top === null) return { token: true };
  const includeTop = Math.max(1, top ?? 0, mayEnd ? 0 : candidatesBeforeEnd);
  return { token: true, logits: { filter: { tokens: [], includeTop, includeSelected: true } }, totalLogitWeight: true };
}

/** Query of the distribution before `token` of a prompt that scores it. */
export const scoreQuery = (token: number, top: number): TokenQuery => ({
  logits: { filter: { tokens: [token], includeTop: Math.max(1, top), includeSelected: false } },
  totalLogitWeight: true,
});

/** What determines a choice. */
export interface ChoiceRules {
  readonly request: Pick<GenerationRequest, "sampling" | "top">;
  readonly random: Random;
  /** null: every token may be chosen; otherwise those for which it is false. */
  readonly ends: ((token: number) => boolean) | null;
}

/**
 * Chooses the next token by the answer to `queryFor`.
 * @throws Error if the engine gave no token.
 */
export function chooseToken(
  answer: TokenResult,
  { request, random, ends }: ChoiceRules,
): { readonly token: number; readonly score: ScoredToken | null } {
  const token = pick(answer, request.sampling, { random, ends });
  if (token === undefined || token === null) throw new Error("The model gave no next token.");
  return { token, score: request.top === null ? null : scoreOf(answer, token, request.top) };
}

function pick(answer: TokenResult, sampling: Sampling, { random, ends }: Pick<ChoiceRules, "random" | "ends">): number | null | undefined {
  if (sampling.temperature > 0) return drawn(answer.logits ?? new Map(), sampling, { random, ends });
  if (ends === null) return answer.token;
  return [...(answer.logits ?? [])].sort(([, left], [, right]) => right - left).find(([token]) => !ends(token))?.[0];
}

/** Draws from the distribution at a temperature; top p is of the tokens that top k and min p leave, as in vLLM. */
function drawn(
  logits: ReadonlyMap<number, number>,
  { temperature, topK, topP, minP }: Sampling,
  { random, ends }: Pick<ChoiceRules, "random" | "ends">,
): number | undefined {
  const allowed = ends === null ? [...logits] : [...logits].filter(([token]) => !ends(token));
  const largest = allowed.reduce((most, [, logit]) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const weighted = allowed.map(([token, logit]) => ({ token, weight: Math.exp((logit - largest) / temperature) }));
  weighted.sort((left, right) => right.weight - left.weight);
  const candidates = weighted.slice(0, topK > 0 ? topK : weighted.length).filter(({ weight }) => weight >= minP);
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let kept = 0;
  let before = 0;
  while (kept < candidates.length && (kept === 0 || before < topP * total)) before += candidates[kept++]?.weight ?? 0;
  let rest = random.next() * before;
  return (
    candidates.slice(0, kept).find(({ weight }) => {
      rest -= weight;
      return rest < 0;
    })?.token ?? candidates[0]?.token
  );
}

/** The log probability of a token with the `top` likeliest ones, itself included. @throws Error if the result lacks the token. */
export function scoreOf({ logits = new Map(), totalLogitWeight }: TokenResult, token: number, top: number): ScoredToken {
  const sorted = [...logits].sort(([, left], [, right]) => right - left);
  const largest = sorted[0]?.[1] ?? 0;
  const weight = totalLogitWeight ?? sorted.reduce((sum, [, logit]) => sum + Math.exp(logit - largest), 0);
  const scored = (one: number, logit: number): TokenScore => ({
    token: one,
    logprob: Math.max(leastLogprob, Math.min(0, logit - largest - Math.log(weight))),
  });
  const own = logits.get(token);
  if (own === undefined) throw new Error(`The model gave no log probability of token ${token}.`);
  const likeliest = sorted.slice(0, top).map(([one, logit]) => scored(one, logit));
  const alternatives = likeliest.some((one) => one.token === token) ? likeliest : [...likeliest, scored(token, own)];
  return { ...scored(token, own), top: alternatives };
}
