import { formatCount, formatCounted, formatPercent, formatScore, formatSeconds, formatUsd } from "@/components/ui/format";
import type { Decision, Stage } from "./prepareDecision";
import { gainFacts } from "./prepareGain";

/** One line of a record: its label and its value. */
export interface Fact {
  readonly name: string;
  readonly text: string;
}

const fact = (name: string, text: string | null | undefined): readonly Fact[] =>
  text === null || text === undefined || text === "" ? [] : [{ name, text }];

/** The data of a request in addition to its stages; missing values are left out. */
export function requestFacts(decision: Decision): readonly Fact[] {
  // It has no first stage, and its program decides which of the plan's models are possible.
  const isChosenLate = decision.startReason === "model-chosen-at-dispatch";
  const { routerScores, candidates, inputTokens, predictedTokens, predictedProgramTokens } = decision;
  return [
    ...fact("Asked model", decision.asked),
    ...fact("Endpoint", decision.endpoint),
    ...fact(isChosenLate ? "Models of the plan" : "Could go to", candidates?.join(", ")),
    ...fact(
      isChosenLate ? "Its model was chosen" : "Started at its first stage because",
      decision.startReason === undefined ? null : reasonText(decision.startReason),
    ),
    ...gainFacts(decision.startGain),
    ...fact(
      "Router's scores",
      routerScores === undefined
        ? null
        : Object.entries(routerScores)
            .map(([model, score]) => `${model} ${score}`)
            .join(", "),
    ),
    ...fact("Key", decision.key),
    ...fact("Class of work", decision.objective),
    ...fact("Program", decision.program),
    ...workflowFacts(decision),
    ...fact("Prompt, estimated", inputTokens === undefined ? null : `${formatCount(inputTokens)} tokens`),
    ...fact("Predicted output", predictedTokens === undefined ? null : `${formatCount(predictedTokens)} tokens`),
    ...fact("Predicted of its program", predictedProgramTokens === undefined ? null : `${formatCount(predictedProgramTokens)} tokens`),
    ...predictionFacts(decision),
    ...agentFacts(decision),
    ...fact("End to end", formatSeconds(decision.endToEndSeconds)),
    ...fact("First token after", decision.ttftSeconds === null ? "none was sent" : formatSeconds(decision.ttftSeconds)),
    ...fact("Gateway's own time", formatSeconds(decision.overheadSeconds)),
    ...fact("Cost", costText(decision)),
  ];
}

/** The agent of a declared workflow that it belongs to, and how many configurations counted as accurate for its program. */
function workflowFacts({ call, configurations }: Decision): readonly Fact[] {
  const accurate =
    configurations === undefined
      ? null
      : `${formatCount(configurations.accurate)} of ${formatCount(configurations.of)} configurations (${formatPercent(configurations.accurate / Math.max(1, configurations.of))}), learnt from executed or modelled outcomes`;
  return [
    ...fact("Declared workflow", call === undefined ? null : `${call.agent} of ${call.workflow}`),
    ...fact("Predicted to be accurate for its program", accurate),
  ];
}

/** The agent that called, and what was learnt from its earlier calls for the policy that decided. */
function agentFacts({ agent, forecast }: Decision): readonly Fact[] {
  if (forecast === undefined) return fact("Agent", agent);
  return [
    ...fact("Agent", agent ?? forecast.agent),
    ...fact("Its answers commonly take", formatSeconds(forecast.requestSeconds)),
    ...fact("Its remaining time to the end of its programs", formatSeconds(forecast.distanceSeconds)),
    ...fact("Remaining calls of its programs", formatScore(forecast.remainingCalls)),
  ];
}

const absenceWords: Readonly<Record<string, string>> = {
  loading: "they were still being loaded",
  "queue-full": "too many requests waited for them",
  late: "they did not answer in time",
  failed: "they failed",
  "not-loaded": "one of them cannot be loaded",
  "no-encoder": "the encoder that one of them reads is not at the gateway",
  "not-asked": "another plan came into force during the prediction",
};

/** The trained predictors' outputs for each model: tokens of the answer and of the rest of its program, and their confidence. */
function predictionFacts({ predictions }: Decision): readonly Fact[] {
  if (predictions === undefined) return [];
  const { lengths, confidence, configurations, models, absent } = predictions;
  const named = [
    ["lengths", lengths],
    ["confidence", confidence],
    ["configurations", configurations],
  ].flatMap(([kind, hash]) => (hash === undefined ? [] : [`${kind} ${hash.slice(0, 12)}`]));
  const said = Object.entries(models).map(([model, { requestTokens, remainingTokens, confidence: sure }]) => {
    const length =
      requestTokens === undefined || remainingTokens === undefined
        ? []
        : [`${formatCount(requestTokens)} tokens, ${formatCount(remainingTokens)} with the rest of its program`];
    return `${model}: ${[...length, ...(sure === undefined ? [] : [`${formatPercent(sure)} sure`])].join(", ")}`;
  });
  return [
    ...fact("Predictors", named.join(", ")),
    ...fact("Predicted by model", said.join("; ")),
    ...fact("Not all predicted because", absent === undefined ? null : (absenceWords[absent] ?? absent)),
  ];
}

/** Why no answer has a known cost; null where one has a cost, or nothing was answered. */
export function costlessText(records: readonly Decision[]): string | null {
  const answered = records.filter(({ status }) => status < 400);
  const [first] = answered;
  return first === undefined || answered.some(({ costUsd }) => typeof costUsd === "number")
    ? null
    : `What requests cost is ${costText(first)}.`;
}

/** A request's cost, or why it is unknown. */
function costText({ costUsd, stages }: Decision): string {
  if (costUsd === undefined) return "not reported by this gateway";
  if (costUsd !== null) return formatUsd(costUsd);
  const uncounted = stages.find(({ verdict, inputTokens }) => verdict !== "failed" && inputTokens === null);
  return uncounted === undefined
    ? "not known: the settings have no price of a model that answered"
    : `not known: an engine of ${uncounted.model} did not count its tokens`;
}

const degradedWords = {
  judge: "The judge gave no score, so the policy decided without one.",
  gate: "The gate could not score the answer, so the policy decided without a score.",
  telemetry: "Telemetry for the policy was missing, so it chose an engine without it.",
  stage: "A stage could not answer, so the next larger one did.",
  "lower-stage": "No larger stage could answer, so a smaller one's answer was given.",
} as const;

/** Irregularities that changed the outcome, in sentences. */
export const degradedTexts = ({ degraded = [] }: Decision): readonly string[] => degraded.map((each) => degradedWords[each]);

const reasonWords: Readonly<Record<string, string>> = {
  "first-stage": "every request starts there",
  "stage-skipped": "the stages before it could not answer",
  "lower-stage": "no larger stage could answer",
  "model-chosen-at-dispatch": "when an engine had room",
  "router-score-high-enough": "the router's score is high enough",
  "no-router-score-high-enough": "no router's score is high enough for an earlier stage",
  "program-keeps-its-model": "its program keeps its model",
  "least-loaded": "its model is the least loaded",
  "surer-within-slack": "its model is more confident and not much more loaded than the least loaded one",
  "largest-expected-gain": "of all models this one has the best trade-off between expected quality and cost",
  "no-gain-worth-its-cost": "no larger model is expected to gain enough for its cost",
  "no-gain-at-any-score": "its score is not expected to be worth its cost, so it was not scored",
  "score-below-threshold": "the score is below the threshold",
  "score-at-or-above-threshold": "the score is at or above the threshold",
  "score-at-or-above-lowered-threshold": "the score is at or above the threshold to which overload lowered the plan's",
  "last-stage": "there is no stage after it",
  "only-model": "there is no other model",
  "not-judged": "answers are not judged here",
  "judge-unavailable": "the judge gave no score",
  "no-gate-score": "the gate gave no score",
  "scored-for-later-agents": "its score changes which models later agents may have",
};

/** A policy's reason in words, with its detail. */
export function reasonText(reason: string, detail?: string): string {
  const words = reasonWords[reason] ?? (isKind(reason) ? reason.replaceAll("-", " ") : withWords(reason));
  return detail === undefined ? words : `${words}: ${detail}`;
}

/** Engine failures are sentences already. */
const isKind = (reason: string): boolean => /^[a-z]+(-[a-z]+)*$/.test(reason);

/** Older gateways write the detail into the reason, after a colon. */
function withWords(reason: string): string {
  const [kind = "", ...detail] = reason.split(": ");
  return [reasonWords[kind] ?? (isKind(kind) ? kind.replaceAll("-", " ") : kind), ...detail].join(": ");
}

const gateNames = {
  judge: "judge",
  confidence: "token log probabilities",
  agreement: "agreement with further answers",
  scorer: "scorer of lengths and probabilities",
  sequence: "several in order",
} as const;

type Gated = Stage & { readonly gate: NonNullable<Stage["gate"]> };

/** Whether another gate than the judge alone scored the answer. */
const isGated = (stage: Stage): stage is Gated => stage.gate !== undefined && stage.gate.kind !== "judge";

/** What became of the further answers of a gate, also of those beside a call that failed: `2 answered, 1 cancelled`. */
function furtherText({ gate, unusedCalls }: Stage): string | null {
  const outcomes = (gate?.calls ?? unusedCalls ?? []).map(({ outcome }) => outcome);
  const kinds = [...new Set(outcomes)];
  if (kinds.length === 0) return null;
  return kinds.map((kind) => `${formatCount(outcomes.filter((one) => one === kind).length)} ${kind.replaceAll("-", " ")}`).join(", ");
}

/** What a score was compared with. */
function scoreText({ judgedScore, threshold, plannedThreshold, unscored }: Stage): string | null {
  if (judgedScore !== null) {
    return threshold === null
      ? formatScore(judgedScore)
      : `${formatScore(judgedScore)}, ${judgedScore >= threshold ? "at or above" : "below"} ${threshold}${plannedThreshold === undefined ? "" : ` (lowered by overload from ${plannedThreshold})`}`;
  }
  return unscored === undefined
    ? null
    : `none (${unscored.replaceAll("-", " ")})${threshold === null ? "" : `; it was to reach ${threshold}`}`;
}

/** The data of one attempt at a stage; missing values are left out. */
export function stageFacts(stage: Stage): readonly Fact[] {
  const { engine } = stage;
  const tokens = (count: number | null) => (count === null ? "not counted" : formatCount(count));
  return [
    ...fact("Queued", formatSeconds(stage.queueSeconds)),
    ...fact(stage.verdict === "failed" ? "Failed after" : "Answered in", formatSeconds(stage.seconds)),
    ...fact("Judge took", stage.judgeSeconds === null ? null : formatSeconds(stage.judgeSeconds)),
    ...fact("Gate", isGated(stage) ? gateNames[stage.gate.kind] : null),
    ...fact("Gate took", isGated(stage) ? formatSeconds(stage.gate.seconds) : null),
    ...fact(isGated(stage) ? "Gate's score" : "Judge's score", scoreText(stage)),
    ...gainFacts(stage.gain),
    ...fact("Further answers", furtherText(stage)),
    ...fact("Tokens in, out", stage.verdict === "failed" ? null : `${tokens(stage.inputTokens)}, ${tokens(stage.outputTokens)}`),
    ...fact(
      "Requests at the engine",
      engine === undefined ? null : `${formatCount(engine.inFlight)} of ${formatCount(engine.maxInFlight)}`,
    ),
    ...fact("KV use when chosen", readingText(engine?.kvUse, formatPercent)),
    ...fact("KV cache holds", capacityText(engine?.kvCapacity)),
    ...fact(
      "Preemptions there so far",
      readingText(engine?.preemptions, (count) => formatCounted(count, "request")),
    ),
    ...fact("Reason for another choice", engine?.degraded),
    ...fact("Priority", engine?.priority),
  ];
}

type Engine = NonNullable<Stage["engine"]>;

function capacityText(capacity: Engine["kvCapacity"]): string | null {
  if (capacity === undefined) return null;
  return capacity.tokens === null ? `not known: ${capacity.reason}` : formatCounted(capacity.tokens, "token");
}

function readingText(reading: Engine["kvUse"], format: (value: number) => string): string | null {
  if (reading === undefined) return null;
  const { state, value, ageSeconds, reason } = reading;
  const known = value === undefined ? state : `${format(value)}, ${state}`;
  const age = ageSeconds === undefined || state === "fresh" ? "" : `, ${formatSeconds(ageSeconds)} old`;
  return `${known}${age}${reason === undefined ? "" : `: ${reason}`}`;
}
