import { formatCount, formatPercent } from "@/components/ui/format";
import type { GatewayRounds } from "@/server/contracts/studio";
import { gateText } from "@/solver/gates/gates";
import { callGatesOf, type PolicyDocument } from "@/solver/plan/policySchema";

const msText = (ms: number | null): string => (ms === null ? "–" : `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)}\u00a0ms`);

/** The prediction counts of the plan in force: zero where it names no predictor; null where they are not known. */
function namesPredictor(policy: PolicyDocument | null): boolean | null {
  if (policy === null) return null;
  return policy.kind === "just-in-time" && policy.workflows.some(({ predictor }) => predictor !== undefined);
}

/** How accurate configurations were predicted since the gateway started, as figures and in sentences. */
export function preparePredictions(
  predictions: GatewayRounds["predictions"],
  policy: PolicyDocument | null,
): {
  readonly figures: readonly { readonly name: string; readonly value: string; readonly detail: string }[];
  readonly says: string;
} {
  const { whole, partial, none, unasked, meanMs, meanBudgetMs, evaluatedShare, waitedFor } = predictions;
  const beside = waitedFor.search + waitedFor.engine;
  const all = whole + partial + none + unasked;
  const share = (part: number) => (all === 0 ? "no search yet" : `${formatPercent(part / all)} of searches`);
  return {
    figures: [
      { name: "Search completed", value: formatCount(whole), detail: share(whole) },
      { name: "Interrupted", value: formatCount(partial), detail: share(partial) },
      { name: "None verified in time", value: formatCount(none), detail: share(none) },
      { name: "Predictor not available", value: formatCount(unasked), detail: share(unasked) },
      { name: "A search took", value: msText(meanMs), detail: `of ${msText(meanBudgetMs)} it had, in the mean` },
      {
        name: "Waited for a search",
        value: formatCount(waitedFor.search),
        detail: beside === 0 ? "no request yet" : `of ${formatCount(beside)} requests; the others waited longer for an engine`,
      },
      { name: "Heads evaluated", value: formatPercent(evaluatedShare), detail: "of a workflow's heads; the rest was inferred or skipped" },
    ],
    says: [...planSays(namesPredictor(policy), all), ...scoresSay(policy), ...causesSay(predictions)].join(" "),
  };
}

function planSays(names: boolean | null, searches: number): readonly string[] {
  if (names !== false) return [];
  const none = "The plan in force names no predictor, so only the largest models count as accurate.";
  return searches === 0 ? [none] : [`${none} The counts are from earlier plans.`];
}

/** Whose answers the plan in force has scored, and by what. */
function scoresSay(policy: PolicyDocument | null): readonly string[] {
  const scored = policy === null ? [] : callGatesOf(policy).map(({ model, gate }) => `${model} by ${gateText(gate)}`);
  return scored.length === 0 ? [] : [`Scores of agents' answers change which count as accurate: those of ${scored.join(", ")}.`];
}

function causesSay({ none, unasked, partial }: GatewayRounds["predictions"]): readonly string[] {
  return [
    ...(partial > 0 ? ["A search that was interrupted counts what it had verified."] : []),
    ...(none > 0 ? ["If none was verified in time, only the largest models count: searches have too little time."] : []),
    ...(unasked > 0
      ? [
          "A predictor is not available while it loads, if it cannot load or fails, or if too many requests wait for it: a request's record on Live gives the reason.",
        ]
      : []),
  ];
}
