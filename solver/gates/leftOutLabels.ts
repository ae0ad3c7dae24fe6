import { type UnusableLabelKind, unusableLabelWords } from "./labelledStage";

/** Labels that are named for a reason that many share. */
const NAMED = 3;

/** A label that cannot count. */
export interface UnusableLabel {
  readonly kind: UnusableLabelKind;
  readonly decisionId: string;
  /** Its line in the file, where the header is line 1; undefined: it does not come from a file. */
  readonly line?: number | undefined;
}

/** Labels that cannot count for one reason. */
export interface LeftOutLabels {
  readonly kind: UnusableLabelKind;
  readonly labels: number;
  /** The first few, as a person finds them: by line and id of the decision. */
  readonly first: readonly string[];
}

/** Labels that cannot count, by reason, the most frequent first. */
export function leftOutLabels(unusable: readonly UnusableLabel[]): readonly LeftOutLabels[] {
  return [...new Set(unusable.map(({ kind }) => kind))]
    .map((kind) => {
      const labels = unusable.filter((label) => label.kind === kind);
      return { kind, labels: labels.length, first: labels.slice(0, NAMED).map(nameOf) };
    })
    .sort((one, other) => other.labels - one.labels);
}

const nameOf = ({ decisionId, line }: UnusableLabel): string => (line === undefined ? decisionId : `line ${line}: ${decisionId}`);

/**
 * One sentence on the labels that are left out, with their reasons.
 *
 * @param given number of labels, those that count among them.
 * @returns null where none is left out.
 */
export function leftOutText(leftOut: readonly LeftOutLabels[], given: number): string | null {
  const count = leftOut.reduce((sum, { labels }) => sum + labels, 0);
  if (count === 0) return null;
  const reasons = leftOut.map(({ kind, labels, first }) => {
    const named = `${first.join(", ")}${labels > first.length ? " …" : ""}`;
    return `${given === 1 ? "" : `${labels} because `}${unusableLabelWords[kind]} (${named})`;
  });
  if (given === 1) return `The label cannot count: ${reasons.join()}.`;
  const subject =
    count === given
      ? `None of the ${given} labels can count`
      : `${count} of ${given} labels cannot count and ${count === 1 ? "is" : "are"} left out`;
  return `${subject}: ${reasons.join(", ")}.`;
}
