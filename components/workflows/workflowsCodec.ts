import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

export const snippetLanguages = ["typescript", "python"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** What defines the Workflows page's view, beside the cluster. */
export interface WorkflowsView {
  /** The application whose graph is drawn; null: the one with most programs. */
  readonly app: string | null;
  /** Key of the agent whose latencies are shown; null: the one that is called most. */
  readonly agent: string | null;
  /** The replica whose requests are listed; null: none. */
  readonly replica: string | null;
  /** Whether rare agents, edges and pairs are drawn and listed too. */
  readonly all: boolean;
  readonly snippet: SnippetLanguage;
}

/** Two names and a slash are no longer, nor is the name of an engine. */
const LONGEST_TEXT = 300;

const textIn = (params: URLSearchParams, name: string): string | null => {
  const text = params.get(name);
  return text === null || text === "" || text.length > LONGEST_TEXT ? null : text;
};

export const workflowsCodec: UrlCodec<WorkflowsView> = {
  parse: (params) => ({
    app: textIn(params, "app"),
    agent: textIn(params, "agent"),
    replica: textIn(params, "replica"),
    all: params.get("all") === "1",
    snippet: readWord(params, "snippet", snippetLanguages) ?? "typescript",
  }),
  format: ({ app, agent, replica, all, snippet }) => ({
    app: app ?? undefined,
    agent: agent ?? undefined,
    replica: replica ?? undefined,
    all: all ? "1" : undefined,
    snippet: snippet === "typescript" ? undefined : snippet,
  }),
};
