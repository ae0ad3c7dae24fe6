import { codecOf, flag, text, word } from "../url/addressFields";

export const attachKinds = ["endpoints", "processes", "kubernetes", "ray"] as const;
export type AttachKind = (typeof attachKinds)[number];

/** What the Clusters page shows: all of them, one of them whole, or how one is attached or described. */
export const clustersCodec = codecOf({
  /** Id of the cluster that is shown whole. */
  show: text(),
  attach: word(attachKinds),
  describe: flag("open"),
});
