import type { Interruption } from "./batcher";
import type { EngineMetrics, FinishedAs } from "./engineMetrics";
import type { GenerationListener } from "./generation";

const problemKinds: Readonly<Record<Interruption["kind"], FinishedAs>> = { cancelled: "cancelled", stopped: "stopped", failed: "error" };

/** A listener that counts and times a request before it passes on what it hears. `now`: milliseconds of a clock that only goes forward. */
export function timedListener(
  inner: Omit<GenerationListener, "onStart">,
  {
    metrics,
    promptTokens,
    now = () => performance.now(),
  }: { readonly metrics: EngineMetrics; readonly promptTokens: number; readonly now?: () => number },
): GenerationListener {
  const arrived = now();
  let first = 0;
  let last = 0;
  let tokens = 0;
  const since = (then: number): number => (now() - then) / 1000;
  const finish = (as: FinishedAs): void =>
    metrics.finished({ as, seconds: since(arrived), decodeSeconds: (last - first) / 1000, outputTokens: tokens });
  return {
    onStart: () => metrics.started(since(arrived)),
    onPrompt(scores) {
      metrics.promptDone(promptTokens);
      inner.onPrompt(scores);
    },
    onPiece(piece) {
      const at = now();
      if (tokens === 0) metrics.firstToken((at - arrived) / 1000);
      else metrics.nextToken((at - last) / 1000);
      if (tokens === 0) first = at;
      last = at;
      tokens += 1;
      inner.onPiece(piece);
    },
    onEnd(ending, rest) {
      finish(ending.reason);
      inner.onEnd(ending, rest);
    },
    onProblem(problem) {
      finish(problemKinds[problem.kind]);
      inner.onProblem(problem);
    },
  };
}
