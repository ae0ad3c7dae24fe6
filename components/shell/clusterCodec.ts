import type { UrlCodec } from "../url/useUrlView";

/** The one parameter all pages share. */
export const clusterCodec: UrlCodec<{ readonly cluster: string | null }> = {
  parse: (params) => ({ cluster: params.get("cluster") }),
  format: (view) => ({ cluster: view.cluster ?? undefined }),
};
