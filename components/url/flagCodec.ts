import type { UrlCodec } from "./useUrlView";

/** Whether a dialog named by a parameter is open, so that other pages can link to it: `?import=open`. */
export function flagCodec(name: string): UrlCodec<{ readonly open: boolean }> {
  return {
    parse: (params) => ({ open: params.get(name) === "open" }),
    format: (view) => ({ [name]: view.open ? "open" : undefined }),
  };
}
