/** Inputs of a plan that are replaced by measured values, as one group. */
export type InputGroup = "rate" | "lengths" | "scores" | "judge-time" | "all";

/** The planner's prediction of a figure with some inputs as measured. */
export type ReplacedOutcome =
  | { readonly kind: "predicted"; readonly value: number }
  /** Requests arrive faster than the plan's replicas answer them: its queues grow without end, and there are no figures. */
  | { readonly kind: "overloaded" }
  /** The plan's replicas cannot be simulated in their current form: there is no prediction. */
  | { readonly kind: "infeasible"; readonly because: string }
  | { readonly kind: "not-evaluated"; readonly because: string };

/** The planner's prediction with some inputs at their current instead of the planned values. */
export interface ReplacedInputs {
  readonly inputs: InputGroup;
  readonly outcome: ReplacedOutcome;
  /** Whether the measured value can only improve the figure, as a faster judge improves a latency: then it is never a cause. */
  readonly better: boolean;
}

/** The part of a broken promise that some inputs explain. */
type CauseVerdict =
  | "explains"
  | "explains-most"
  | "explains-part"
  | "does-not-explain"
  | "predicts-more-than-measured"
  | "better-than-planned"
  /** Unknown: the plan could not be simulated this way. */
  | "unknown";

export interface CauseQuestion {
  /** Begins a sentence: "p95 end to end". */
  readonly name: string;
  readonly promised: number;
  readonly measured: number;
  /** The end of the band that the measured figure exceeds. */
  readonly limit: number;
  /** The promised limit, in words. */
  readonly within: string;
  /** Changes of the traffic that the promise depends on, simulated or not. */
  readonly moved: readonly string[];
  /** Each group of changed inputs, separately. */
  readonly alone: readonly ReplacedInputs[];
  /** All changed inputs together; null where fewer than two changed. */
  readonly together: ReplacedInputs | null;
  /** Faults independent of the inputs, in sentences: engines that are gone. */
  readonly known: readonly string[];
  /** Measurements of the engines, in sentences, that may explain the remainder; empty: none. */
  readonly besides: readonly string[];
  /** A figure with its unit. */
  readonly text: (value: number) => string;
}

export interface JudgedInputs extends ReplacedInputs {
  /** Share of the distance from the promise to the measured figure, 1 for all of it; null without a prediction. */
  readonly explains: number | null;
  readonly verdict: CauseVerdict;
}

export interface Cause {
  /** By descending explained share, `all` last. */
  readonly replaced: readonly JudgedInputs[];
  /** Whether the inputs explain it: other measurements are then irrelevant. */
  readonly explained: boolean;
  readonly says: string;
}

/** Minimum shares of the distance from the promise to the measured figure for an input to explain it, most of it, a part of it. */
const EXPLAINS = { all: 0.8, most: 0.5, part: 0.2 } as const;

/** Beyond the measured figure by this share of the distance, the planner's prediction is worse than the measurement. */
const MORE_THAN_ALL = 1.25;

/** An overloaded plan has growing queues: that explains a latency only from this multiple of the band's end on. */
const FAR_BEYOND = 1.25;

/**
 * Determines which input a broken promise comes from: the planner's prediction with one input replaced at a time, as a share of the
 * distance from the promised to the measured value. Inputs interact through queues, so shares need not sum to one: all at once are reported
 * too, and decide whether the inputs explain it. An input that can only improve the figure is no cause, whatever the prediction.
 */
export function causeOf(question: CauseQuestion): Cause {
  const { name, promised, measured, within, moved, text, known, besides } = question;
  const judge = (one: ReplacedInputs): JudgedInputs => judged(one, question);
  const alone = question.alone.map(judge).sort((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
  const all = question.together === null ? null : judge(question.together);
  const [first] = alone;
  // Where all together could not be simulated, each input's separate effect decides.
  const best = all === null || all.verdict === "unknown" ? first : all;
  const explained = best !== undefined && accounts(best);
  const sentences = [`${name} is ${text(measured)}, promised ${text(promised)} (${within}).`];
  if (first === undefined)
    sentences.push(
      moved.length === 0
        ? "No input that is watched has moved."
        : `Of what has moved (${moved.join(", ")}) nothing can be put in place of what was planned.`,
    );
  for (const one of alone.filter((other, at) => at === 0 || other.verdict === "unknown" || rank(other) >= EXPLAINS.part)) {
    const undone = best === all && !explained && accounts(one);
    sentences.push(saysOf(one, { text, undone }));
  }
  if (all !== null && !(explained && first !== undefined && accounts(first))) sentences.push(saysOf(all, { text, undone: false }));
  sentences.push(...known);
  if (!explained) sentences.push(...besides);
  const tellsMore = best?.verdict === "predicts-more-than-measured";
  if (!explained && !tellsMore && known.length === 0 && besides.length === 0)
    sentences.push(restSays(best, all === null ? alone : [...alone, all]));
  return { replaced: [...alone, ...(all === null ? [] : [all])], explained, says: sentences.join(" ") };
}

function judged(one: ReplacedInputs, { promised, measured, limit }: CauseQuestion): JudgedInputs {
  const { outcome, better } = one;
  const explains = outcome.kind === "predicted" ? (outcome.value - promised) / (measured - promised) : null;
  return { ...one, explains, verdict: verdictOf(outcome, { better, explains, isFar: measured >= FAR_BEYOND * limit }) };
}

function verdictOf(
  outcome: ReplacedOutcome,
  { better, explains, isFar }: { readonly better: boolean; readonly explains: number | null; readonly isFar: boolean },
): CauseVerdict {
  if (better) return "better-than-planned";
  if (outcome.kind === "overloaded") return isFar ? "explains" : "predicts-more-than-measured";
  if (explains === null) return "unknown";
  if (explains > MORE_THAN_ALL) return "predicts-more-than-measured";
  if (explains >= EXPLAINS.all) return "explains";
  if (explains >= EXPLAINS.most) return "explains-most";
  return explains >= EXPLAINS.part ? "explains-part" : "does-not-explain";
}

/** Whether the inputs explain the whole figure, and more where there are figures; an overload that was not measured does not. */
const accounts = ({ verdict, explains }: JudgedInputs): boolean =>
  verdict === "explains" || (verdict === "predicts-more-than-measured" && explains !== null);

/** By explained share: an overload above any figure, an improvement or an unknown effect below any. */
function rank({ verdict, outcome, explains }: JudgedInputs): number {
  if (verdict === "better-than-planned" || verdict === "unknown") return Number.NEGATIVE_INFINITY;
  return outcome.kind === "overloaded" ? Number.POSITIVE_INFINITY : (explains ?? Number.NEGATIVE_INFINITY);
}

const groupText: Readonly<Record<InputGroup, { readonly name: string; readonly they: boolean }>> = {
  rate: { name: "the rate", they: false },
  lengths: { name: "the lengths", they: true },
  scores: { name: "the scores", they: true },
  "judge-time": { name: "the time of a judgement", they: false },
  all: { name: "all that moved", they: true },
};

/** `undone`: it explains the figure alone, but not together with the other changes. */
function saysOf(
  { inputs, outcome, verdict }: JudgedInputs,
  { text, undone }: Pick<CauseQuestion, "text"> & { readonly undone: boolean },
): string {
  const { name, they } = groupText[inputs];
  const given = `With ${name} as measured`;
  if (outcome.kind === "infeasible")
    return `${given} the plan cannot be simulated as it runs, so nothing follows for ${name}: ${sentence(outcome.because)}`;
  if (outcome.kind === "not-evaluated") return `${given} nothing could be simulated: ${sentence(outcome.because)}`;
  const keeps = outcome.kind === "overloaded" ? "the plan is overloaded" : `the plan predicts ${text(outcome.value)}`;
  if (undone) return `${given} ${keeps}: by ${they ? "themselves they" : "itself it"} would explain it.`;
  return `${given} ${keeps}: ${they ? theyWords[verdict] : itWords[verdict]}.`;
}

const itWords: Readonly<Record<CauseVerdict, string>> = {
  explains: "it explains it",
  "explains-most": "it explains most of it",
  "explains-part": "it explains a part of it",
  "does-not-explain": "it does not explain it",
  "predicts-more-than-measured": "more is predicted than is measured",
  "better-than-planned": "it is better than planned and no cause",
  unknown: "it is not known what follows",
};

const theyWords: Readonly<Record<CauseVerdict, string>> = {
  explains: "they explain it",
  "explains-most": "they explain most of it",
  "explains-part": "they explain a part of it",
  "does-not-explain": "they do not explain it",
  "predicts-more-than-measured": "more is predicted than is measured",
  "better-than-planned": "they are better than planned and no cause",
  unknown: "it is not known what follows",
};

const sentence = (reason: string): string => (reason.endsWith(".") ? reason : `${reason}.`);

/** The remaining explanation where no other is known. */
function restSays(best: JudgedInputs | undefined, replaced: readonly JudgedInputs[]): string {
  if (replaced.some(({ verdict }) => verdict === "unknown"))
    return "Whether that explains it is not known; engines and judge show no other cause.";
  const part = best?.verdict === "explains-most" || best?.verdict === "explains-part";
  return `${part ? "The rest" : "It"} is unexplained: engines, judge and shares of traffic show no other cause.`;
}
