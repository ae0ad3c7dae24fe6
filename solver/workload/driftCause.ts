/** What the planner predicts with some inputs as they are now in place of the planned ones. */
export interface ReplacedInputs {
  /** "the rate", "the lengths and scores". */
  readonly inputs: string;
  /** null: the plan does not keep up then. */
  readonly predicted: number | null;
}

export interface CauseQuestion {
  /** Begins a sentence: "p95 end to end". */
  readonly name: string;
  readonly promised: number;
  readonly measured: number;
  /** The end of the band that the measured figure lies beyond. */
  readonly limit: number;
  /** What was promised to be kept within, in words. */
  readonly within: string;
  /** What moved of the traffic, simulated or not. */
  readonly moved: readonly string[];
  /** Each input that moved and could be replaced, on its own. */
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

export interface Cause {
  /** In the order of how much they explain, `together` last. */
  readonly replaced: readonly (ReplacedInputs & { readonly explains: number | null })[];
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
 * decide whether the inputs explain it.
 */
export function causeOf(question: CauseQuestion): Cause {
  const { name, promised, measured, limit, within, moved, together, text, known, besides } = question;
  const far = measured >= FAR_BEYOND * limit;
  const share = (one: ReplacedInputs) => ({
    ...one,
    explains: one.predicted === null ? null : (one.predicted - promised) / (measured - promised),
  });
  const accounts = ({ explains }: { readonly explains: number | null }): boolean => (explains === null ? far : explains >= EXPLAINS.all);
  const alone = question.alone.map(share).sort((a, b) => weight(b.explains) - weight(a.explains));
  const all = together === null ? null : share(together);
  const [first] = alone;
  const best = all ?? first;
  const explained = best !== undefined && accounts(best);
  const sentences = [`${name} is ${text(measured)}, promised ${text(promised)} (${within}).`];
  if (first === undefined)
    sentences.push(
      moved.length === 0
        ? "No input that is watched has moved."
        : `What has moved (${moved.join(", ")}) could not be put in place of what was planned.`,
    );
  for (const one of alone.filter(({ explains }, at) => at === 0 || weight(explains) >= EXPLAINS.part)) {
    const undone = all !== null && !explained && accounts(one);
    sentences.push(saysOf(one, { text, far, undone }));
  }
  if (all !== null && !(explained && first !== undefined && accounts(first))) sentences.push(saysOf(all, { text, far, undone: false }));
  sentences.push(...known);
  if (!explained) sentences.push(...besides);
  // More than is measured leaves nothing over.
  const over = !explained && best?.predicted !== null;
  if (over && known.length === 0 && besides.length === 0) {
    const part = best !== undefined && weight(best.explains) >= EXPLAINS.part;
    sentences.push(`${part ? "The rest" : "It"} is unexplained: engines, judge and shares of traffic show no other cause.`);
  }
  return { replaced: [...alone, ...(all === null ? [] : [all])], explained, says: sentences.join(" ") };
}

/** A plan that does not keep up has the longest latency. */
const weight = (explains: number | null): number => explains ?? Number.POSITIVE_INFINITY;

/** `undone`: it explains the figure, but does not with all else that moved. */
function saysOf(
  { inputs, predicted, explains }: Cause["replaced"][number],
  { text, far, undone }: Pick<CauseQuestion, "text"> & { readonly far: boolean; readonly undone: boolean },
): string {
  const given = `With ${inputs} as measured`;
  const verb = inputs.startsWith("all") || inputs.includes(" and ") || inputs.endsWith("s") ? "they" : "it";
  const s = verb === "it" ? "s" : "";
  const keeps = predicted === null || explains === null ? "the plan does not keep up" : `the plan predicts ${text(predicted)}`;
  if (undone) return `${given} ${keeps}: by ${verb === "it" ? "itself it" : "themselves they"} would explain it.`;
  if (explains === null)
    return far ? `${given} ${keeps}: ${verb} explain${s} it.` : `${given} ${keeps}: more is predicted than is measured.`;
  return `${given} ${keeps}: ${verb} ${words(explains, s)}.`;
}

function words(explains: number, s: string): string {
  if (explains > MORE_THAN_ALL) return `explain${s} more than is measured`;
  if (explains >= EXPLAINS.all) return `explain${s} it`;
  if (explains >= EXPLAINS.most) return `explain${s} most of it`;
  if (explains >= EXPLAINS.part) return `explain${s} a part of it`;
  return `do${s === "" ? "" : "es"} not explain it`;
}
