import type { GateCause, GateRecord, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { EndSignal } from "@/server/lib/requestEnd";
import { isRecord } from "@/solver/collections/isRecord";
import { type GateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { type AnswerEvidence, createGate, type Gate, type GateNeed } from "@/solver/gates/gates";
import { callGatesOf, gatesOf, modelsOf, type PolicyDocument, singleStagesOf } from "@/solver/plan/policySchema";
import type { Evidence, Policy } from "@/solver/policies/core/policy";
import type { StageOutcome } from "../engines/stageOutcome";
import type { AnswerTokens, GeneratedText } from "../http/endpoint";
import { bytesPerToken, type ModelRequest } from "../http/modelRequest";
import { usageOf } from "../http/usage";
import type { Judge, JudgeReading } from "../judge/judge";
import { hasBrokenStructure } from "./brokenStructure";
import { GateWatch } from "./gateWatch";
import { type GateEngines, OtherAnswers, type OtherAnswersOptions, type TimedCall, type WantedAnswer } from "./otherAnswers";

export interface GateDeps {
  readonly judge: Pick<Judge, "score"> | null;
  readonly engines: GateEngines;
  readonly watch: GateWatch;
}

/** An engine's answer, and what was collected beside it. */
export interface GatedAnswer {
  readonly asked: ModelRequest;
  readonly answered: Extract<StageOutcome, { kind: "answered" }>;
  /** Null where the engine reported none, or was not asked. */
  readonly tokens: AnswerTokens | null;
  /** Null where the gate compares with none. */
  readonly others: OtherAnswers | null;
  /** Wall milliseconds for which it waits for further answers at most. */
  readonly mostWaitMs: number;
  /** What the policy reads of the request besides; undefined where it reads nothing. */
  readonly evidence: Evidence | undefined;
  readonly signal: EndSignal;
}

/** The score of an answer, or why there is none. */
export interface GateFinding {
  readonly kind: GateRecord["kind"];
  /** 0..100, to a hundredth: what the threshold is compared with. */
  readonly score: number | null;
  readonly unscored?: NonNullable<StageRecord["unscored"]> | undefined;
  /** Whether it is the judge that gave none. */
  readonly isJudgeMissing: boolean;
  /** More about a missing score, in words. */
  readonly detail?: string | undefined;
  /** Wall milliseconds from the answer to the score. */
  readonly ms: number;
  /** Of them the judge's; left out where it was not asked. */
  readonly judgeMs?: number | undefined;
  readonly calls?: readonly TimedCall[] | undefined;
  /** Scores before calibration of the gates that it consists of. */
  readonly raw: (number | null)[];
}

const noJudge: JudgeReading = { score: null, failure: "no judge is configured", outcome: "unavailable" };
/** The request was aborted before. */
const notAsked: JudgeReading = { score: null, failure: null, outcome: "aborted" };
const noEvidence: AnswerEvidence = {
  ...{ prompt: "", answer: "", inputTokens: 0, outputTokens: 0, endedByLength: false, tokens: null, others: null, judgedScore: null },
};

/** What was collected so far. */
interface Found {
  evidence: AnswerEvidence;
  judged: JudgeReading | null;
  judgeMs: number;
}

interface StageOfGate {
  readonly model: string;
  /** What the policy does with a score: decisions are its own. null: no verdict depends on it, so that all further answers are compared. */
  readonly accepts: ((score: number, evidence: Evidence | undefined) => boolean) | null;
}

/**
 * The gate of one stage: collects the evidence that its document asks for, cheapest first, and scores the answer. Whether the score is good
 * enough is for the policy to decide.
 */
export class AnswerGate {
  readonly kind: GateRecord["kind"];
  readonly document: GateDocument;
  /** Whether engines must be asked for log probabilities. */
  readonly readsTokens: boolean;
  readonly #gate: Gate;
  readonly #stage: StageOfGate;
  readonly #deps: GateDeps;
  readonly #wanted: readonly WantedAnswer[];
  /** Whether further answers are needed in any case, so that they are asked for beside the answer. */
  readonly #comparesFirst: boolean;

  constructor(document: GateDocument, stage: StageOfGate, deps: GateDeps) {
    this.#gate = createGate(document);
    this.#stage = stage;
    this.#deps = deps;
    this.kind = document.kind;
    this.document = document;
    this.readsTokens = this.#gate.needs.includes("log-probabilities");
    this.#wanted = wantedBy(document, stage.model);
    this.#comparesFirst = this.#gate.nextNeed(noEvidence, new Set()) === "other-answers";
  }

  /** Called when the stage's engine is called. Null if the gate compares with no further answers. */
  begin(options: Pick<OtherAnswersOptions, "asked" | "signal" | "answerBytes" | "bodies">): OtherAnswers | null {
    if (this.#wanted.length === 0) return null;
    const others = new OtherAnswers({ ...options, wanted: this.#wanted, engines: this.#deps.engines });
    if (this.#comparesFirst) others.start();
    return others;
  }

  /** Scores an answer; null if it holds no text to score. Ends the further answers in any case, and releases their memory. */
  async read(given: GatedAnswer): Promise<GateFinding | null> {
    try {
      return await this.#read(given);
    } finally {
      given.others?.cancel();
    }
  }

  async #read(given: GatedAnswer): Promise<GateFinding | null> {
    const { asked, answered, others, signal } = given;
    const { text } = asked.endpoint;
    const answer = text?.answer(answered.completion) ?? null;
    if (text === null || answer === null) return null;
    const startedMs = performance.now();
    const found: Found = { evidence: evidenceOf(given, text, answer), judged: null, judgeMs: 0 };
    await this.#collect(found, given);
    // A gate that another one decided before reads none of them.
    others?.end();
    const reading = this.#gate.score(found.evidence);
    const score = reading.kind === "scored" ? rounded(reading.score) : null;
    const { judged, judgeMs } = found;
    const judgeFailed = reading.kind === "unscored" && reading.cause === "no-judged-score";
    const cause = reading.kind === "unscored" && reading.cause !== "no-judged-score" ? reading.cause : null;
    if (!signal.aborted && !judgeFailed) this.#deps.watch.note(this.#stage.model, cause);
    const { unscored, detail } = missing(cause, judgeFailed ? (judged ?? notAsked) : null);
    return {
      kind: this.kind,
      score,
      isJudgeMissing: judgeFailed,
      unscored,
      detail,
      ms: performance.now() - startedMs,
      judgeMs: judged === null ? undefined : judgeMs,
      calls: others?.calls,
      raw: reading.raw.map((each) => (each === null ? null : Number(each.toPrecision(RAW_DIGITS)))),
    };
  }

  /** Collects what the gate asks for, one after the other, until it can decide. */
  async #collect(found: Found, { others, mostWaitMs, evidence: known, signal }: GatedAnswer): Promise<void> {
    const read = new Set<GateNeed>();
    const next = (): GateNeed | null => (signal.aborted ? null : this.#gate.nextNeed(found.evidence, read));
    for (let need = next(); need !== null; need = next()) {
      read.add(need);
      const { evidence } = found;
      if (need === "judge") {
        const askedMs = performance.now();
        found.judged = await (this.#deps.judge?.score(evidence.prompt, evidence.answer, signal) ?? noJudge);
        found.judgeMs = performance.now() - askedMs;
        found.evidence = { ...evidence, judgedScore: found.judged.score };
      } else if (need === "other-answers" && others !== null) {
        const isDecided = (so: readonly string[], open: number): boolean =>
          this.#isDecided({ ...evidence, others: so }, open, { read, known });
        const answers = await others.read(mostWaitMs, isDecided);
        found.evidence = { ...evidence, others: answers };
      }
    }
  }

  /** Whether the policy decides the same whether all open answers agree with the one that is scored or none does. */
  #isDecided(
    { others, ...evidence }: AnswerEvidence,
    open: number,
    { read, known }: { readonly read: ReadonlySet<GateNeed>; readonly known: Evidence | undefined },
  ): boolean {
    const { accepts: decide } = this.#stage;
    if (decide === null || others === null || others.length === 0) return false;
    const accepts = (rest: string): boolean | null => {
      const whole = { ...evidence, others: [...others, ...Array<string>(open).fill(rest)] };
      if (this.#gate.nextNeed(whole, read) !== null) return null;
      const reading = this.#gate.score(whole);
      return reading.kind === "scored" ? decide(rounded(reading.score), known) : null;
    };
    const least = accepts("");
    return least !== null && least === accepts(evidence.answer);
  }
}

/**
 * The gates of a policy's stages, by stage; none where every answer is accepted. Gates of agents' answers are at the stages at which calls are
 * answered: their scores change no verdict.
 */
export function answerGates(document: PolicyDocument, policy: Policy, deps: GateDeps): ReadonlyMap<number, AnswerGate> {
  const gates = new Map<number, AnswerGate>();
  for (const [stage, gate] of gatesOf(document).entries()) {
    const accepts = (score: number, evidence: Evidence | undefined) => policy.accepts(stage, score, evidence);
    gates.set(stage, new AnswerGate(gate, { model: policy.modelOfStage(stage), accepts }, deps));
  }
  const { scoresCallsFrom = 0 } = policy;
  for (const { model, gate } of callGatesOf(document))
    gates.set(scoresCallsFrom + modelsOf(document).indexOf(model), new AnswerGate(gate, { model, accepts: null }, deps));
  return gates;
}

/** Outcome of a judge that has no spare call. */
const judgeBusy: JudgeReading = { score: null, failure: "the judge has no spare call", outcome: "busy" };

/**
 * The gates by which mirrored answers are scored, by model: those of the stages, and the judge for models without one; none where that has
 * none. They use spare calls of the judge only, compare all further answers, and say nothing of how the stages' own gates do.
 */
export function mirrorGates(
  document: PolicyDocument,
  { judge, engines }: Pick<GateDeps, "engines"> & { readonly judge: Judge | null },
): ReadonlyMap<string, AnswerGate> {
  const spare = judge && {
    score: async (...asked: Parameters<Judge["score"]>) => (await judge.tryScore(...asked)) ?? judgeBusy,
  };
  const deps: GateDeps = { judge: spare, engines, watch: new GateWatch() };
  const singles = singleStagesOf(document);
  const gates = gatesOf(document);
  return new Map(
    modelsOf(document).flatMap((model) => {
      const own = gates[singles.indexOf(model)] ?? ({ kind: "judge" } as const);
      const needsJudge = simpleGatesOf(own).some(({ kind }) => kind === "judge");
      return needsJudge && judge === null ? [] : [[model, new AnswerGate(own, { model, accepts: null }, deps)] as const];
    }),
  );
}

/** The further answers that a gate at a model's stage compares with. */
function wantedBy(document: GateDocument, model: string): readonly WantedAnswer[] {
  return simpleGatesOf(document).flatMap((gate) => {
    if (gate.kind !== "agreement") return [];
    const { samples, peers = [] } = gate;
    const own = Array.from({ length: samples?.count ?? 0 }, () => ({ model, temperature: samples?.temperature ?? null }));
    return [...own, ...peers.map((peer) => ({ model: peer, temperature: null }))];
  });
}

function evidenceOf({ asked, answered: { completion }, tokens }: GatedAnswer, text: GeneratedText, answer: string): AnswerEvidence {
  const usage = usageOf(completion);
  const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  return {
    prompt: text.prompt(asked.body),
    answer,
    inputTokens: usage.inputTokens ?? asked.inputTokens,
    outputTokens: usage.outputTokens ?? tokens?.texts.length ?? Math.ceil(Buffer.byteLength(answer) / bytesPerToken),
    endedByLength: isRecord(choice) && choice.finish_reason === "length",
    hasBrokenStructure: hasBrokenStructure(asked.body, completion),
    tokens,
    others: null,
    judgedScore: null,
  };
}

/** Why there is no score: the gate's own cause, or the judge's. */
function missing(cause: GateCause | null, judged: JudgeReading | null): Pick<GateFinding, "unscored" | "detail"> {
  if (cause !== null) return { unscored: cause };
  if (judged === null || judged.outcome === "scored") return {};
  return { unscored: judged.outcome, ...(judged.failure !== null && { detail: judged.failure }) };
}

/** Probabilities near 0 and 1 differ in digits that a hundredth of a point does not have. */
const RAW_DIGITS = 6;

const rounded = (score: number): number => Math.round(score * 100) / 100;
