import { isRecord } from "@/solver/collections/isRecord";
import type { StageOutcome } from "../engines/stageOutcome";
import type { AnswerTokens, GeneratedText } from "../http/endpoint";

type Answered = Extract<StageOutcome, { kind: "answered" }>;

/**
 * Reads the log probabilities that the gateway added to a request, and takes them out of the answer: `logprobs` is null there, as engines
 * write it for a client that does not ask for it.
 */
export function takenTokens(
  answered: Answered,
  { tokens }: Pick<GeneratedText, "tokens">,
): { readonly answered: Answered; readonly tokens: AnswerTokens | null } {
  const { completion, reply } = answered;
  if (completion === null || !Array.isArray(completion.choices)) return { answered, tokens: null };
  const reported = completion.choices.some((choice) => isRecord(choice) && isRecord(choice.logprobs));
  if (!reported) return { answered, tokens: null };
  const choices = completion.choices.map((choice: unknown) => (isRecord(choice) ? { ...choice, logprobs: null } : choice));
  const without = { ...completion, choices };
  return {
    answered: { ...answered, completion: without, reply: { ...reply, body: Buffer.from(JSON.stringify(without)) } },
    tokens: tokens(completion),
  };
}
