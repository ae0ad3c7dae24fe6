import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

/** Which two workloads are compared, and whether only what differs is shown. */
export interface CompareView {
  readonly a: string | null;
  readonly b: string | null;
  readonly onlyApart: boolean;
}

export const compareCodec: UrlCodec<CompareView> = {
  parse: (params) => ({
    a: params.get("a") || null,
    b: params.get("b") || null,
    onlyApart: readWord(params, "rows", ["apart"]) !== null,
  }),
  format: ({ a, b, onlyApart }) => ({ a: a ?? undefined, b: b ?? undefined, rows: onlyApart ? "apart" : undefined }),
};
