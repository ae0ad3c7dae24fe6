import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

export const snippetLanguages = ["typescript", "python"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Lists that open with what is commonest or first of them. */
export const foldedParts = ["graph", "line", "pairs"] as const;
export type FoldedPart = (typeof foldedParts)[number];

/** What defines the Workflows page's view, beside the cluster. */
export interface WorkflowsView {
  /** The application whose graph is drawn; null: the one with most programs. */
  readonly app: string | null;
  /** Key of the agent whose latencies are shown; null: the one that is called most. */
  readonly agent: string | null;
  /** The replica whose requests are listed; null: none. */
  readonly replica: string | null;
  /** Of what all is drawn and listed, the rare too. */
  readonly all: readonly FoldedPart[];
  readonly snippet: SnippetLanguage;
}

/** Two names and a slash are no longer, nor is the name of an engine. */
const LONGEST_TEXT = 300;

const textIn = (params: URLSearchParams, name: string): string | null => {
  const text = params.get(name);
  return text === null || text === "" || text.length > LONGEST_TEXT ? null : text;
};

function partsIn(text: string): readonly FoldedPart[] {
  const named = text.split(",");
  return foldedParts.filter((part) => named.includes(part));
}

/** The parts with one more, or without it. */
export const withPart = (parts: readonly FoldedPart[], part: FoldedPart, all: boolean): readonly FoldedPart[] =>
  foldedParts.filter((each) => (each === part ? all : parts.includes(each)));

export const workflowsCodec: UrlCodec<WorkflowsView> = {
  parse: (params) => ({
    app: textIn(params, "app"),
    agent: textIn(params, "agent"),
    replica: textIn(params, "replica"),
    all: partsIn(params.get("all") ?? ""),
    snippet: readWord(params, "snippet", snippetLanguages) ?? "typescript",
  }),
  format: ({ app, agent, replica, all, snippet }) => ({
    app: app ?? undefined,
    agent: agent ?? undefined,
    replica: replica ?? undefined,
    all: all.length === 0 ? undefined : all.join(","),
    snippet: snippet === "typescript" ? undefined : snippet,
  }),
};
