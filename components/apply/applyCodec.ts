import type { UrlCodec } from "../url/useUrlView";

/** What defines how a difference is looked at. */
export interface ApplyView {
  /** Unchanged lines, files and engines are left out. */
  readonly hideUnchanged: boolean;
  /** The generated files are open. */
  readonly manifests: boolean;
}

export const applyCodec: UrlCodec<ApplyView> = {
  parse: (params) => ({ hideUnchanged: params.get("unchanged") !== "shown", manifests: params.get("manifests") === "open" }),
  format: ({ hideUnchanged, manifests }) => ({
    unchanged: hideUnchanged ? undefined : "shown",
    manifests: manifests ? "open" : undefined,
  }),
};
