import type { Dispatcher } from "undici";
import { type MeasuredRun, type RunPoint, spreadLengths } from "@/solver/calibration/measuredRun";
import type { NextRun } from "@/solver/calibration/nextRun";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { AskRecipe } from "./askRecipe";
import { type StreamedAnswer, streamAnswer } from "./streamAnswer";

type Answered = Extract<StreamedAnswer, { kind: "answered" }>;

/** An answer with the lengths that were asked for. */
type Asked = Answered & { readonly asked: { readonly inputTokens: number; readonly outputTokens: number } };

/** An answer whose lengths the engine counted. */
interface Counted extends Asked {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const isCounted = (answer: Asked): answer is Counted => answer.inputTokens !== null && answer.outputTokens !== null;

export type ClosedLoop =
  | { readonly kind: "measured"; readonly run: MeasuredRun; readonly sent: number; readonly tokens: number }
  /** Requests failed, or, by `reason`, their lengths are not known or not those asked for. */
  | {
      readonly kind: "failed";
      readonly reason: "requests" | "lengths";
      readonly message: string;
      readonly sent: number;
      readonly tokens: number;
    }
  | { readonly kind: "stopped"; readonly sent: number; readonly tokens: number };

interface Loop {
  readonly url: string;
  readonly recipe: AskRecipe;
  readonly agent: Dispatcher;
  /** Ends the loop at once; its requests in flight are aborted. */
  readonly signal: AbortSignal;
  /** Called once, when half of the requests are answered: all clients are at work then. */
  readonly onHalf?: () => void;
}

/** Share of the requests that may fail before the loop counts as failed. */
const MOST_FAILURES = 0.02;

/** Half the range of the requests' lengths, over their centre. */
export const SPREAD = 0.5;

/**
 * Standard deviations of the lengths over those asked for, over their mean, from which on a fit cannot know them. Prompts in words vary by
 * their tokens; answers vary where an engine does not keep to the length that it is asked for.
 */
const MOST_INPUT_VARIATION = 0.25;
const MOST_OUTPUT_VARIATION = 0.1;

/**
 * Runs a closed loop: so many clients, each of which sends its next request when its last one has ended, until enough were sent or the time
 * is over; those in flight are waited for. Lengths are those that the engine counted.
 */
export async function closedLoop(
  { inputTokens, outputTokens, concurrency, requests, seconds }: Omit<NextRun, "why">,
  loop: Loop,
): Promise<ClosedLoop> {
  const { url, recipe, agent, signal } = loop;
  const centre = { inputTokens, outputTokens, spread: SPREAD };
  const lengths = spreadLengths(centre, requests);
  const asked = Array.from(lengths.inputTokens, (tokens, at) => ({ inputTokens: tokens, outputTokens: lengths.outputTokens[at] ?? 1 }));
  const bodies = asked.map((one) => recipe.body(one.inputTokens, one.outputTokens));
  const answers: Asked[] = [];
  const failures: string[] = [];
  const startedMs = performance.now();
  let sent = 0;
  let half = loop.onHalf;
  const mostFailures = Math.floor(MOST_FAILURES * requests);
  const client = async (): Promise<void> => {
    while (sent < requests && !signal.aborted && failures.length <= mostFailures) {
      // Every client sends at least one, so that as many are in flight as asked for.
      if (sent >= concurrency && performance.now() - startedMs > 1000 * seconds) return;
      const [body = "", own = centre] = [bodies[sent], asked[sent]];
      sent += 1;
      const answer = await streamAnswer({ url: url + recipe.path, body, agent, signal });
      if (answer.kind === "answered") answers.push({ ...answer, asked: own });
      else if (answer.kind === "failed") failures.push(answer.message);
      if (half !== undefined && answers.length >= concurrency / 2) {
        half();
        half = undefined;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  const used = { sent, tokens: asked.slice(0, sent).reduce((sum, one) => sum + one.inputTokens + one.outputTokens, 0) };
  if (signal.aborted) return { kind: "stopped", ...used };
  if (failures.length > mostFailures || answers.length < concurrency)
    return { kind: "failed", reason: "requests", message: failures[0] ?? "no answer", ...used };
  const counted = answers.filter(isCounted);
  const fault = lengthFault(counted, answers.length);
  return fault === null
    ? { kind: "measured", run: runOf(counted, { ...centre, concurrency }, startedMs), ...used }
    : { kind: "failed", reason: "lengths", message: fault, ...used };
}

/** Why the lengths of answers are not those asked for, in a sentence without its full stop; null: they are, up to one factor. */
function lengthFault(answers: readonly Counted[], all: number): string | null {
  if (answers.length < all) return `${all - answers.length} of ${all} answers came without their numbers of tokens`;
  const varies = (shares: readonly number[], most: number): boolean => {
    const centre = mean(shares);
    return Math.sqrt(mean(shares.map((share) => (share - centre) ** 2))) > most * centre;
  };
  const percents = (shares: readonly number[]): string =>
    `${Math.round(100 * Math.min(...shares))} to ${Math.round(100 * Math.max(...shares))} % of the tokens that were asked for`;
  const [inputs, outputs] = [answers.map(inputShare), answers.map(outputShare)];
  if (varies(outputs, MOST_OUTPUT_VARIATION)) return `answers had ${percents(outputs)}`;
  return varies(inputs, MOST_INPUT_VARIATION) ? `prompts had ${percents(inputs)}` : null;
}

const inputShare = ({ inputTokens, asked }: Counted): number => inputTokens / asked.inputTokens;
const outputShare = ({ outputTokens, asked }: Counted): number => outputTokens / asked.outputTokens;

function runOf(
  answers: readonly Counted[],
  { inputTokens, outputTokens, spread, concurrency }: RunPoint & { readonly spread: number },
  startedMs: number,
): MeasuredRun {
  const endToEnd = Float64Array.from(answers, ({ sentMs, lastMs }) => (lastMs - sentMs) / 1000);
  const tpots = answers
    .filter(({ outputTokens }) => outputTokens >= 2)
    .map(({ lastMs, firstMs, outputTokens }) => (lastMs - firstMs) / 1000 / (outputTokens - 1));
  return {
    ...{ concurrency, spread },
    inputTokens: Math.max(1, Math.round(inputTokens * mean(answers.map(inputShare)))),
    outputTokens: Math.max(1, Math.round(outputTokens * mean(answers.map(outputShare)))),
    requests: answers.length,
    seconds: (Math.max(...answers.map(({ lastMs }) => lastMs)) - startedMs) / 1000,
    ttftSeconds: mean(answers.map(({ sentMs, firstMs }) => (firstMs - sentMs) / 1000)),
    tpotSeconds: tpots.length === 0 ? null : mean(tpots),
    endToEndSeconds: mean(endToEnd),
    p50Seconds: quantile(endToEnd, 0.5),
    p95Seconds: quantile(endToEnd, 0.95),
  };
}
