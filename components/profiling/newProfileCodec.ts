import type { UrlCodec } from "../url/useUrlView";

/** What defines the view of a new profile; the rest of the form is too long for an address and is kept in the tab's storage. */
export interface NewProfileView {
  /** Id of the sample; null: the newest. */
  readonly set: string | null;
}

export const newProfileCodec: UrlCodec<NewProfileView> = {
  parse: (params) => ({ set: params.get("set") }),
  format: ({ set }) => ({ set: set ?? undefined }),
};
