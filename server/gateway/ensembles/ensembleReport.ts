import type { EnsembleCall, EnsembleOutcome } from "@/server/contracts/gateway/gatewayEnsembles";
import type { LoopbackAnswer } from "../http/loopbackClient";
import type { Usage } from "../http/usage";
import type { FinishedCall } from "./ensembleCount";
import type { ExpertState, Voted } from "./ensembleVotes";

/** Characters of a vote that a report shows. */
const shownVoteCharacters = 80;

interface Ended {
  readonly id: string;
  readonly outcome: EnsembleOutcome;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  /** Engine seconds from arrival to the gate's decision, and to the answer. */
  readonly decidedSeconds: number;
  readonly seconds: number;
}

/** A request for counts and reports, without texts except short votes. */
export function finishedCall(
  { decision, tau, experts, atDeadline, belowQuorum }: Voted,
  { id, outcome, timeScale, ...times }: Ended,
): FinishedCall {
  const reported = experts.map((expert): EnsembleCall["experts"][number] => {
    const answered = "answer" in expert;
    return {
      ...{ model: expert.model, state: expert.state },
      vote: answered && expert.vote !== null ? shownVote(expert.vote) : null,
      seconds: "ms" in expert ? (expert.ms / 1000) * timeScale : null,
      outputTokens: answered ? expert.answer.usage.outputTokens : null,
    };
  });
  const { confidence, votes, tied, leading } = decision;
  const leads = (expert: ExpertState): boolean => !tied && "answer" in expert && expert.vote !== null && expert.vote === leading?.vote;
  return {
    call: { ...{ id, atMs: Date.now(), outcome, tau, confidence, votes, experts: reported }, ...times },
    ...{ atDeadline, belowQuorum, early: experts.some(({ state }) => state === "not-needed") },
    majority: new Set(experts.filter(leads).map(({ model }) => model)),
  };
}

/** The answer of an expert; undefined if it gave none. */
export const answerOf = ({ experts }: Voted, expert: string | undefined): LoopbackAnswer | undefined =>
  experts.flatMap((one) => ("answer" in one && one.model === expert ? [one.answer] : []))[0];

/** What the aggregator reads, in the ensemble's order. */
export const answersOf = ({ experts }: Voted): readonly { readonly text: string }[] =>
  experts.flatMap((expert) => ("answer" in expert ? [{ text: expert.answer.output }] : []));

/** Usage of the experts that answered. */
export const usagesOf = ({ experts }: Voted): readonly Usage[] =>
  experts.flatMap((expert) => ("answer" in expert ? [expert.answer.usage] : []));

/** Usage in OpenAI's form, summed over calls; counts that no engine reported are left out; undefined if there is no count at all. */
export function sumOf(usages: readonly Usage[]) {
  if (usages.every(({ inputTokens, outputTokens }) => inputTokens === null && outputTokens === null)) return undefined;
  const sum = (tokens: (usage: Usage) => number | null): number => usages.reduce((all, usage) => all + (tokens(usage) ?? 0), 0);
  const [input, output] = [sum(({ inputTokens }) => inputTokens), sum(({ outputTokens }) => outputTokens)];
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** A copy: a vote may be a slice of an answer and would keep the whole answer in memory. */
const shownVote = (vote: string): string => Buffer.from(vote.slice(0, shownVoteCharacters)).toString();
