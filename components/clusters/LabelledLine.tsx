import type { ReactNode } from "react";
import { StateWord, type Tone } from "../ui/Badge";

/** One line of a list of findings: its label, the finding, and what to do about it, if anything. */
export function LabelledLine(props: {
  readonly word: string;
  readonly tone: Tone;
  readonly sentence: string;
  readonly next: string | null;
  /** Width of the labels, where they form a column. */
  readonly wordClass?: string;
  /** What can be done about it at once. */
  readonly children?: ReactNode;
}) {
  return (
    <li className="flex items-baseline gap-2">
      <span className={`shrink-0 ${props.wordClass ?? ""}`}>
        <StateWord tone={props.tone}>{props.word}</StateWord>
      </span>
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {props.sentence}
        {props.next !== null && <span className="text-ink-2"> {props.next}</span>}
        {props.children}
      </span>
    </li>
  );
}
