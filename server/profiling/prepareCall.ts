import type { ProfileRequest, Prompt } from "@/server/contracts/studio";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import type { LedgerCall } from "./callLedger";
import { comparedPart, sampleBody, sampleScore } from "./gateReadings";
import type { MeasureReadings, Reading } from "./measures/reading";
import type { ProfileShape } from "./profileShape";

/** What a call will be at most. */
export interface MostOfCall {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A call with all that it takes. */
export type PreparedCall =
  | {
      readonly kind: "call";
      readonly call: LedgerCall;
      readonly body: Readonly<Record<string, unknown>>;
      readonly most: MostOfCall;
      /** Whether the reply is as long as an answer. */
      readonly isLong: boolean;
      /** What the reply of a judge says, or a sample; null where the reply is the answer itself. */
      readonly read: ((reply: string) => Reading) | null;
    }
  | { readonly kind: "local"; readonly call: LedgerCall; run(signal: AbortSignal): Promise<Reading> }
  | { readonly kind: "known"; readonly call: LedgerCall; readonly reading: Reading };

export interface PrepareParts {
  readonly profile: StoredProfile;
  readonly shape: ProfileShape;
  readonly store: Pick<Store, "profiles" | "prompts">;
  readonly measures: MeasureReadings;
}

/** Reads what a call needs from the store; null where texts that it needs were deleted. */
export function prepareCall(call: LedgerCall, { profile, shape, store, measures: how }: PrepareParts): PreparedCall | null {
  const { id, promptSetId, request } = profile;
  const { position, model, measure } = call;
  const prompt = store.prompts.prompt(promptSetId, position);
  if (prompt === null) return null;
  if (measure === null) {
    const { body, outputTokens } = bounded(prompt.body, request.maxOutputTokens);
    return { kind: "call", call, body, most: mostOf(body, outputTokens), isLong: true, read: null };
  }
  const answerOf = (at: number) => store.profiles.answer(id, position, request.models[at]?.model ?? "");
  const wanted = request.measures[measure];
  if (wanted === undefined) return sample(call, request, { prompt, answer: answerOf(model) });
  const against = shape.measures[measure]?.against ?? null;
  const isAlone = against === null || against === model;
  const [answer, other] = [answerOf(model), isAlone ? null : answerOf(against)];
  if (answer === null || (!isAlone && other === null)) return null;
  const work = how.readingWork(wanted, call.reading, { prompt, answer, other });
  if (work.kind === "known") return { kind: "known", call, reading: work.reading };
  if (work.kind === "local") return { kind: "local", call, run: (signal) => work.run(signal) };
  return {
    kind: "call",
    call,
    body: work.body,
    most: mostOf(work.body, work.body.max_tokens),
    isLong: false,
    read: (reply) => work.read(reply),
  };
}

/** A further answer of the same model, compared with the first one. */
function sample(
  call: LedgerCall,
  request: ProfileRequest,
  { prompt, answer }: { readonly prompt: Prompt; readonly answer: string | null },
): PreparedCall | null {
  const { samples } = request.gates;
  if (samples === null || answer === null) return null;
  const { body, outputTokens } = bounded(sampleBody(prompt.body, samples, call.reading), request.maxOutputTokens);
  const read = (reply: string): Reading => ({ score: sampleScore(answer, reply, comparedPart(request)) });
  return { kind: "call", call, body, most: mostOf(body, outputTokens), isLong: true, read };
}

/**
 * A prompt's body with a bound of output tokens that holds: its own where that is a number of tokens and no higher than the job's, else
 * the job's. Others, as the -1 of engines that take it for no bound, would let an answer cost more than was reserved for it.
 */
export function bounded(body: Prompt["body"], most: number): { readonly body: Prompt["body"]; readonly outputTokens: number } {
  const { max_tokens, max_completion_tokens, ...rest } = body;
  const own = [max_completion_tokens, max_tokens].filter((bound): bound is number => Number.isSafeInteger(bound) && Number(bound) > 0);
  const outputTokens = Math.min(most, ...own);
  return { outputTokens, body: { ...rest, [max_completion_tokens == null ? "max_tokens" : "max_completion_tokens"]: outputTokens } };
}

/** Tokens that a chat template adds to those estimated from bytes. */
const TEMPLATE_TOKENS = 64;

/** No tokenizer makes more tokens of a text than it has bytes. */
const mostOf = (body: Readonly<Record<string, unknown>>, outputTokens: number): MostOfCall => ({
  inputTokens: Buffer.byteLength(JSON.stringify(body)) + TEMPLATE_TOKENS,
  outputTokens,
});
