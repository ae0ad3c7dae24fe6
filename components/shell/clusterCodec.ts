import type { UrlCodec } from "../url/useUrlView";

/** The one parameter all pages share; on the Clusters page the cluster that is shown whole is the one that is spoken of. */
export const clusterCodec: UrlCodec<{ readonly cluster: string | null; readonly isShown: boolean }> = {
  parse: (params) => ({ cluster: params.get("show") ?? params.get("cluster"), isShown: params.has("show") }),
  format: ({ cluster, isShown }) => ({ cluster: cluster ?? undefined, ...(isShown && { show: cluster ?? undefined }) }),
};
