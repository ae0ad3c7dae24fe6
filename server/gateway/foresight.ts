import type { Decision } from "@/server/contracts/gatewayAdmin";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { modelsOf } from "@/solver/plan/policySchema";
import type { Policy, WaitingWork } from "@/solver/policies/policy";
import { lastUserText } from "@/solver/prediction/lastUserText";
import { LatestMap } from "@/solver/workflow/latestMap";
import { isRecord } from "./isRecord";
import type { LearningBook } from "./learningBook";
import { bytesPerToken, type ModelRequest } from "./modelRequest";
import type { Absence, ModelPrediction, Predictions, Question, Wanted } from "./prediction";
import type { PredictionCounts } from "./predictionCounts";
import type { PredictionDesk } from "./predictionDesk";

/** Models of one policy that are asked about; records stay small. */
const mostModels = 16;
/** Of a text that goes to the thread: more than the words that are read of it. */
const mostCharacters = 65_536;

/** What a policy asks of predictors; null where it reads no predictions. With none named its requests are remembered all the same. */
export function wantedBy(document: PolicyDocument, { needs }: Pick<Policy, "needs">): Wanted | null {
  const { lengths = null, confidence = null } = document.learnt ?? {};
  if (lengths === null && confidence === null && !needs.includes("lengths") && !needs.includes("confidence")) return null;
  return { lengths, confidence, models: modelsOf(document).slice(0, mostModels) };
}

/** What predictors say of one request to one policy, by model, or why they say nothing. */
export interface PolicyForesight {
  readonly wanted: Wanted;
  readonly predicted: Predictions;
  readonly absent: Absence | null;
}

/** What predictors say of one request, to each policy that decides about it. */
export interface Foreseen {
  readonly policies: readonly PolicyForesight[];
  readonly facts: Question["facts"];
  /** What may be remembered of the text, packed; null where no predictor of lengths was asked, or did not answer. */
  readonly sketch: string | null;
}

interface ForesightOptions {
  readonly desk: PredictionDesk;
  readonly book: LearningBook;
  readonly counts: PredictionCounts;
}

/** Has requests predicted before policies decide about them, and remembers what became of them. */
export class Foresight {
  readonly desk: PredictionDesk;
  readonly #options: ForesightOptions;
  /** How sure predictors were of a program at its first request, by predictor and program. */
  readonly #sure = new LatestMap<Predictions>();

  constructor(options: ForesightOptions) {
    this.desk = options.desk;
    this.#options = options;
  }

  /** Asks what the policies want to know of a request; what does not come in time is absent. Never rejects. */
  async about(asked: ModelRequest, wanted: readonly Wanted[]): Promise<Foreseen> {
    const askedMs = performance.now();
    const sure = wanted.map(({ confidence }) => (confidence === null ? undefined : this.#sure.get(programKey(confidence, asked))));
    const question = questionOf(
      asked,
      wanted.map((want, at) => (sure[at] === undefined ? want : { ...want, confidence: null })),
    );
    const { facts } = question;
    if (question.wanted.every(({ lengths, confidence }) => lengths === null && confidence === null)) {
      return { policies: wanted.map((want, at) => ({ wanted: want, predicted: sure[at] ?? {}, absent: null })), facts, sketch: null };
    }
    const came = await this.desk.ask(question);
    const policies = wanted.map((want, at): PolicyForesight => {
      const known = sure[at] ?? {};
      if (typeof came === "string") return { wanted: want, predicted: known, absent: came };
      const predicted = came.predicted[at] ?? {};
      const asking = question.wanted[at] ?? want;
      if (asking.confidence !== null && isSession(asked) && this.desk.absence(asking.confidence) === null)
        this.#sure.put(programKey(asking.confidence, asked), confidenceAlone(predicted));
      const [absent = null] = [asking.lengths, asking.confidence].flatMap((hash) => (hash === null ? [] : (this.desk.absence(hash) ?? [])));
      return { wanted: want, predicted: joined(known, predicted), absent };
    });
    this.#options.counts.asked(policies.find(({ absent }) => absent !== null)?.absent ?? "predicted", (performance.now() - askedMs) / 1000);
    return { policies, facts, sketch: typeof came === "string" ? null : came.sketch };
  }

  /** Notes the answers of a finished request to learn from: what was known of it when it came, and what was written. */
  remember({ facts, sketch }: Foreseen, { asked, decision, startedAtMs }: Finished): void {
    for (const { model, verdict, outputTokens } of decision.stages) {
      if (verdict === "failed" || outputTokens === null) continue;
      const outcome = this.#options.book.note({
        startedAtMs,
        finishedAtMs: decision.finishedAtMs,
        program: asked.programId,
        model,
        accepted: verdict === "accepted",
        outputTokens,
        mostTokens: asked.mostTokens,
        facts: { ...facts, sketch },
      });
      this.#options.counts.remembered(outcome);
    }
  }
}

interface Finished {
  readonly asked: ModelRequest;
  readonly decision: Omit<Decision, "sequence">;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
}

/** What is foreseen of a request to the policy that wants it; null where it wants nothing, or nobody was asked, as of a request for no text. */
export function foreseenFor(foreseen: Foreseen | null, wanted: Wanted | null): PolicyForesight | null {
  if (wanted === null || foreseen === null) return null;
  return foreseen.policies.find((policy) => isSame(policy.wanted, wanted)) ?? { wanted, predicted: {}, absent: "not-asked" };
}

export const isSame = (one: Wanted, other: Wanted): boolean =>
  one === other || (one.lengths === other.lengths && one.confidence === other.confidence && `${one.models}` === `${other.models}`);

/** How long its answer and what its program has yet to write are expected to be at a model: what the client says of its program counts first. */
export function expectedAt(
  model: string,
  { mostTokens, programTokens }: Pick<ModelRequest, "mostTokens" | "programTokens">,
  foresight: PolicyForesight | null,
): Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens"> {
  const predicted = foresight?.predicted[model];
  return {
    predictedTokens: predicted?.requestTokens ?? mostTokens ?? undefined,
    predictedProgramTokens: programTokens ?? predicted?.remainingTokens ?? undefined,
  };
}

/** What a router scores a model for it, 0..100: the client's own first. */
export function scoreOf(model: string, { routerScores }: Pick<ModelRequest, "routerScores">, foresight: PolicyForesight | null) {
  const own = routerScores.get(model);
  const confidence = foresight?.predicted[model]?.confidence;
  return own ?? (confidence === undefined ? undefined : 100 * confidence);
}

const isSession = ({ programId, decisionId }: ModelRequest): boolean => programId !== decisionId;

const programKey = (hash: string, { programId }: ModelRequest): string => `${hash} ${programId}`;

const confidenceAlone = (predicted: Predictions): Predictions =>
  Object.fromEntries(
    Object.entries(predicted).flatMap(([model, { confidence }]) => (confidence === undefined ? [] : [[model, { confidence }] as const])),
  );

function joined(known: Predictions, predicted: Predictions): Predictions {
  const models = new Set([...Object.keys(known), ...Object.keys(predicted)]);
  return Object.fromEntries([...models].map((model): [string, ModelPrediction] => [model, { ...known[model], ...predicted[model] }]));
}

/** Tokens are estimated at four characters each. */
function questionOf({ body, endpoint, workflow, stage }: ModelRequest, wanted: readonly Wanted[]): Question {
  const tokens = (characters: number): number => Math.ceil(characters / bytesPerToken);
  const { messages } = body;
  if (!Array.isArray(messages)) {
    const text = endpoint.text?.prompt(body) ?? "";
    const promptTokens = tokens(text.length);
    return {
      text: text.slice(0, mostCharacters),
      facts: { instructionTokens: 0, promptTokens, inputTokens: promptTokens, workflow, stage },
      wanted,
    };
  }
  const text = lastUserText(messages);
  const instructions = messages.filter((message) => isRecord(message) && (message.role === "system" || message.role === "developer"));
  const facts = {
    instructionTokens: tokens(lengthOf(instructions)),
    promptTokens: tokens(text.length),
    inputTokens: tokens(lengthOf(messages)),
    workflow,
    stage,
  };
  return { text: text.slice(0, mostCharacters), facts, wanted };
}

/** Characters of what messages say. */
function lengthOf(messages: readonly unknown[]): number {
  let sum = 0;
  for (const message of messages) {
    const content = isRecord(message) ? message.content : undefined;
    if (typeof content === "string") sum += content.length;
    else if (Array.isArray(content))
      for (const part of content) sum += isRecord(part) && typeof part.text === "string" ? part.text.length : 0;
  }
  return sum;
}
