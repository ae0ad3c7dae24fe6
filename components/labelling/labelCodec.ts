import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";
import type { LabelKind } from "./labelChoices";

/** Whether one answer is labelled at a time, or two are compared: `?answers=two`. */
export const labelCodec: UrlCodec<{ readonly kind: LabelKind }> = {
  parse: (params) => ({ kind: readWord(params, "answers", ["two"]) ?? "one" }),
  format: ({ kind }) => ({ answers: kind === "one" ? undefined : kind }),
};
