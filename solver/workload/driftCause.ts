/** Inputs of a plan that are replaced by what is measured, as one. */
export type InputGroup = "rate" | "lengths" | "scores" | "judge-time" | "all";

/** What the planner says of a figure with some inputs as they are measured. */
export type ReplacedOutcome =
  | { readonly kind: "predicted"; readonly value: number }
  /** Requests come faster than the plan's replicas answer them: its queues grow without end, and it has no figures. */
  | { readonly kind: "overloaded" }
  /** The plan's replicas cannot be simulated as they run: it says nothing of the figure. */
  | { readonly kind: "infeasible"; readonly because: string }
  | { readonly kind: "not-evaluated"; readonly because: string };

/** The planner's answer with some inputs as they are now in place of the planned ones. */
export interface ReplacedInputs {
  readonly inputs: InputGroup;
  readonly outcome: ReplacedOutcome;
  /** Whether what is measured can only make the figure better than planned, as a faster judge does a latency: then it is never a cause. */
  readonly better: boolean;
}

/** How much of a broken promise some inputs account for. */
type CauseVerdict =
  | "explains"
  | "explains-most"
  | "explains-part"
  | "does-not-explain"
  | "predicts-more-than-measured"
  | "better-than-planned"
  /** Nothing is known: the plan could not be simulated so. */
  | "unknown";

export interface CauseQuestion {
  /** Begins a sentence: "p95 end to end". */
  readonly name: string;
  readonly promised: number;
  readonly measured: number;
  /** The end of the band that the measured figure lies beyond. */
  readonly limit: number;
  /** What was promised to be kept within, in words. */
  readonly within: string;
  /** What moved of the traffic that the promise depends on, simulated or not. */
  readonly moved: readonly string[];
  /** Each group of inputs that moved, on its own. */
  readonly alone: readonly ReplacedInputs[];
  /** All that moved at once; null where only one did, or none. */
  readonly together: ReplacedInputs | null;
  /** What is out of order whatever the inputs account for, in sentences: engines that are gone. */
  readonly known: readonly string[];
  /** What was measured of the engines, in sentences, and that may account for what the inputs do not; empty: nothing. */
  readonly besides: readonly string[];
  /** A figure with its unit. */
  readonly text: (value: number) => string;
}

export interface JudgedInputs extends ReplacedInputs {
  /** Of the way from the promise to the measured figure, 1 being all of it; null where nothing is predicted. */
  readonly explains: number | null;
  readonly verdict: CauseVerdict;
}

export interface Cause {
  /** In the order of how much they explain, `all` last. */
  readonly replaced: readonly JudgedInputs[];
  /** Whether the inputs explain it: what else was measured is then beside the point. */
  readonly explained: boolean;
  readonly says: string;
}

/** Shares of the way from the promise to the measured figure from which an input is said to explain it, most of it, a part of it. */
const EXPLAINS = { all: 0.8, most: 0.5, part: 0.2 } as const;

/** Past the measured figure by so much of the way, the planner expects it worse than it is. */
const MORE_THAN_ALL = 1.25;

/** A plan that does not keep up has queues that grow on: a latency is explained by that only from so many times the band's end on. */
const FAR_BEYOND = 1.25;

/**
 * Says which input a broken promise comes from: what the planner predicts with one input replaced at a time, as a share of the way from
 * what was promised to what is measured. Inputs act on queues together, so shares need not sum to one: all at once are told beside, and
 * decide whether the inputs explain it. An input that can only make the figure better is no cause, whatever is predicted.
 */
export function causeOf(question: CauseQuestion): Cause {
  const { name, promised, measured, within, moved, text, known, besides } = question;
  const judge = (one: ReplacedInputs): JudgedInputs => judged(one, question);
  const alone = question.alone.map(judge).sort((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
  const all = question.together === null ? null : judge(question.together);
  const [first] = alone;
  // What could not be simulated together is decided by what each input does on its own.
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

/** Whether the inputs account for all of the figure, and for more where figures say so; an overload that nobody measured does not. */
const accounts = ({ verdict, explains }: JudgedInputs): boolean =>
  verdict === "explains" || (verdict === "predicts-more-than-measured" && explains !== null);

/** By how much inputs explain: an overload more than any figure, what is better than planned or unknown less than any. */
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

/** `undone`: it explains the figure, but does not with all else that moved. */
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

/** What is left where nothing else is known to account for it. */
function restSays(best: JudgedInputs | undefined, replaced: readonly JudgedInputs[]): string {
  if (replaced.some(({ verdict }) => verdict === "unknown"))
    return "Whether that explains it is not known; engines and judge show no other cause.";
  const part = best?.verdict === "explains-most" || best?.verdict === "explains-part";
  return `${part ? "The rest" : "It"} is unexplained: engines, judge and shares of traffic show no other cause.`;
}
