import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

export const attachKinds = ["endpoints", "processes", "kubernetes", "ray"] as const;
export type AttachKind = (typeof attachKinds)[number];

/** What the Clusters page shows: all of them, one of them whole, or how one is attached or described. */
export interface ClustersView {
  /** Id of the cluster that is shown whole. */
  readonly show: string | null;
  readonly attach: AttachKind | null;
  readonly describe: boolean;
}

export const clustersCodec: UrlCodec<ClustersView> = {
  parse: (params) => ({
    show: params.get("show"),
    attach: readWord(params, "attach", attachKinds),
    describe: params.get("describe") === "open",
  }),
  format: (view) => ({
    show: view.show ?? undefined,
    attach: view.attach ?? undefined,
    describe: view.describe ? "open" : undefined,
  }),
};
