import type { GatewayRounds } from "@/server/contracts/studio";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { formatCount, formatPercent } from "../ui/format";

const msText = (ms: number | null): string => (ms === null ? "–" : `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)}\u00a0ms`);

/** What the plan in force has predicted: nothing where it names no predictor; null where it is not known. */
function namesPredictor(policy: PolicyDocument | null): boolean | null {
  if (policy === null) return null;
  return policy.kind === "just-in-time" && policy.workflows.some(({ predictor }) => predictor !== undefined);
}

/** How it was predicted which configurations are accurate, since the gateway started, as figures and in sentences. */
export function preparePredictions(
  predictions: GatewayRounds["predictions"],
  policy: PolicyDocument | null,
): {
  readonly figures: readonly { readonly name: string; readonly value: string; readonly detail: string }[];
  readonly says: string;
} {
  const { whole, partial, none, unasked, meanMs, meanBudgetMs, evaluatedShare } = predictions;
  const all = whole + partial + none + unasked;
  const share = (part: number) => (all === 0 ? "no search yet" : `${formatPercent(part / all)} of searches`);
  return {
    figures: [
      { name: "Searched to the end", value: formatCount(whole), detail: share(whole) },
      { name: "Cut off", value: formatCount(partial), detail: share(partial) },
      { name: "Nothing verified in time", value: formatCount(none), detail: share(none) },
      { name: "Predictor could not be asked", value: formatCount(unasked), detail: share(unasked) },
      { name: "A search took", value: msText(meanMs), detail: `of ${msText(meanBudgetMs)} it had, in the mean` },
      { name: "Heads evaluated", value: formatPercent(evaluatedShare), detail: "of a workflow's, the rest was inferred or left" },
    ],
    says: [...planSays(namesPredictor(policy), all), ...causesSay(predictions)].join(" "),
  };
}

function planSays(names: boolean | null, searches: number): readonly string[] {
  if (names !== false) return [];
  const none = "The plan in force names no predictor, so only the largest models throughout count as accurate.";
  return searches === 0 ? [none] : [`${none} What is counted here was searched under earlier plans.`];
}

function causesSay({ none, unasked, partial }: GatewayRounds["predictions"]): readonly string[] {
  return [
    ...(partial > 0 ? ["Of a search that was cut off, what was verified by then counts."] : []),
    ...(none > 0 ? ["Where nothing was verified in time, the largest models throughout count alone: searches have too little time."] : []),
    ...(unasked > 0
      ? [
          "A predictor cannot be asked while it is loaded, where it cannot be loaded or fails, or where too much waits for it: a request's record on Live says which.",
        ]
      : []),
  ];
}
