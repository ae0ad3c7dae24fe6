import type { Dispatcher } from "undici";
import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import type { NextRun } from "@/solver/calibration/nextRun";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { AskRecipe } from "./askRecipe";
import { type StreamedAnswer, streamAnswer } from "./streamAnswer";

type Answered = Extract<StreamedAnswer, { kind: "answered" }>;

export type ClosedLoop =
  | { readonly kind: "measured"; readonly run: MeasuredRun; readonly sent: number; readonly tokens: number }
  /** Requests failed. */
  | { readonly kind: "failed"; readonly message: string; readonly sent: number; readonly tokens: number }
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

/**
 * Runs a closed loop: so many clients, each of which sends its next request when its last one has ended, until enough were sent or the time
 * is over; those in flight are waited for. Lengths are those that the engine counted.
 */
export async function closedLoop(
  { inputTokens, outputTokens, concurrency, requests, seconds }: Omit<NextRun, "why">,
  loop: Loop,
): Promise<ClosedLoop> {
  const { url, recipe, agent, signal } = loop;
  const bodies = Array.from({ length: requests }, () => recipe.body(inputTokens, outputTokens));
  const answers: Answered[] = [];
  const failures: string[] = [];
  const startedMs = performance.now();
  let sent = 0;
  let half = loop.onHalf;
  const mostFailures = Math.floor(MOST_FAILURES * requests);
  const client = async (): Promise<void> => {
    while (sent < requests && !signal.aborted && failures.length <= mostFailures) {
      // Every client sends at least one, so that as many are in flight as asked for.
      if (sent >= concurrency && performance.now() - startedMs > 1000 * seconds) return;
      const body = bodies[sent] ?? "";
      sent += 1;
      const answer = await streamAnswer({ url: url + recipe.path, body, agent, signal });
      if (answer.kind === "answered") answers.push(answer);
      else if (answer.kind === "failed") failures.push(answer.message);
      if (half !== undefined && answers.length >= concurrency / 2) {
        half();
        half = undefined;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  const used = { sent, tokens: sent * (inputTokens + outputTokens) };
  if (signal.aborted) return { kind: "stopped", ...used };
  if (failures.length > mostFailures || answers.length < concurrency)
    return { kind: "failed", message: failures[0] ?? "no answer", ...used };
  return { kind: "measured", run: runOf(answers, { inputTokens, outputTokens, concurrency }, startedMs), ...used };
}

function runOf(
  answers: readonly Answered[],
  asked: Pick<NextRun, "inputTokens" | "outputTokens" | "concurrency">,
  startedMs: number,
): MeasuredRun {
  const output = (answer: Answered): number => answer.outputTokens ?? asked.outputTokens;
  const endToEnd = Float64Array.from(answers, ({ sentMs, lastMs }) => (lastMs - sentMs) / 1000);
  const tpots = answers
    .filter((answer) => output(answer) >= 2)
    .map((answer) => (answer.lastMs - answer.firstMs) / 1000 / (output(answer) - 1));
  return {
    concurrency: asked.concurrency,
    inputTokens: Math.max(1, Math.round(mean(answers.map((answer) => answer.inputTokens ?? asked.inputTokens)))),
    outputTokens: Math.max(1, Math.round(mean(answers.map(output)))),
    requests: answers.length,
    seconds: (Math.max(...answers.map(({ lastMs }) => lastMs)) - startedMs) / 1000,
    ttftSeconds: mean(answers.map(({ sentMs, firstMs }) => (firstMs - sentMs) / 1000)),
    tpotSeconds: tpots.length === 0 ? null : mean(tpots),
    endToEndSeconds: mean(endToEnd),
    p50Seconds: quantile(endToEnd, 0.5),
    p95Seconds: quantile(endToEnd, 0.95),
  };
}
