import type { UrlCodec } from "../url/useUrlView";

/** What defines the view of the Prompts page. */
export interface PromptsView {
  /** Where prompts are being taken from; null: nothing is being taken. */
  readonly from: "file" | "gateway" | null;
}

export const promptsCodec: UrlCodec<PromptsView> = {
  parse: (params) => ({
    from: params.get("upload") === null ? (params.get("take") === "gateway" ? "gateway" : null) : "file",
  }),
  format: ({ from }) => ({ upload: from === "file" ? "1" : undefined, take: from === "gateway" ? "gateway" : undefined }),
};
