import type { UrlCodec } from "../url/useUrlView";

/** The one parameter that all pages share; on the Clusters page the cluster shown in detail is the current one. */
export const clusterCodec: UrlCodec<{ readonly cluster: string | null; readonly isShown: boolean }> = {
  parse: (params) => ({ cluster: params.get("show") ?? params.get("cluster"), isShown: params.has("show") }),
  format: ({ cluster, isShown }) => ({ cluster: cluster ?? undefined, ...(isShown && { show: cluster ?? undefined }) }),
};
