import { codecOf, flag, text, word } from "../url/addressFields";

export const attachKinds = ["endpoints", "processes", "kubernetes", "ray"] as const;
export type AttachKind = (typeof attachKinds)[number];

/** The view of the Clusters page: all clusters, one in detail, or the forms to attach or describe one. */
export const clustersCodec = codecOf({
  /** Id of the cluster that is shown in detail. */
  show: text(),
  attach: word(attachKinds),
  describe: flag("open"),
});
