import type { HandLabelOrder } from "@/server/contracts/studio";

export type LabelKind = HandLabelOrder["kind"];

/** One possible label, with its button and its keys. */
export interface LabelChoice {
  readonly quality: number;
  /** On the button, next to its key. */
  readonly word: string;
  readonly key: { readonly text: string; readonly aria: string };
  /** Values of `KeyboardEvent.key` that select it. */
  readonly presses: readonly string[];
}

const digit = (key: string) => ({ text: key, aria: key });

export const labelChoices: Readonly<Record<LabelKind, readonly LabelChoice[]>> = {
  one: [
    { quality: 0, word: "Wrong", key: digit("1"), presses: ["1", "w"] },
    { quality: 25, word: "Poor", key: digit("2"), presses: ["2"] },
    { quality: 50, word: "Half right", key: digit("3"), presses: ["3"] },
    { quality: 75, word: "Good", key: digit("4"), presses: ["4"] },
    { quality: 100, word: "Right", key: digit("5"), presses: ["5", "r"] },
  ],
  two: [
    { quality: 100, word: "Left is better", key: { text: "←", aria: "ArrowLeft" }, presses: ["ArrowLeft"] },
    { quality: 50, word: "As good", key: { text: "=", aria: "=" }, presses: ["="] },
    { quality: 0, word: "Right is better", key: { text: "→", aria: "ArrowRight" }, presses: ["ArrowRight"] },
  ],
};

/** The label for a key; null where there is none. */
export const choiceOf = (kind: LabelKind, key: string): LabelChoice | null =>
  labelChoices[kind].find(({ presses }) => presses.includes(key)) ?? null;

/** The meaning of a label, for the labeller. */
export const labelMeaning: Readonly<Record<LabelKind, string>> = {
  one: "How well does this answer serve the user? 0 is wrong or useless, 50 is half right, 100 is right and complete.",
  two: "Which answer serves the user better? Length and tone count only where they matter to the user.",
};
