import { readWord } from "@/components/url/readParam";
import type { UrlCodec } from "@/components/url/useUrlView";

export const workflowTabs = ["learnt", "declared", "just-in-time"] as const;
export type WorkflowTab = (typeof workflowTabs)[number];

export const snippetLanguages = ["typescript", "python"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Lists that open with what is commonest or first of them. */
const foldedParts = ["graph", "line", "pairs"] as const;
export type FoldedPart = (typeof foldedParts)[number];

/** Dialogs of declared workflows: to bring one, to change the one that is looked at, and to make a plan that runs some of them just in time. */
const dialogs = ["import", "edit", "plan"] as const;

/** What defines the Workflows page's view, beside the cluster. */
export interface WorkflowsView {
  readonly tab: WorkflowTab;
  /** The application whose graph is drawn; null: the one with most programs. */
  readonly app: string | null;
  /** Key of the agent whose latencies are shown; null: the one that is called most. */
  readonly agent: string | null;
  /** The replica whose requests are listed; null: none. */
  readonly replica: string | null;
  /** Of what all is drawn and listed, the rare too. */
  readonly all: readonly FoldedPart[];
  readonly snippet: SnippetLanguage;
  /** The declared workflow that is looked at; null: the first. */
  readonly workflow: string | null;
  /** The plan over whose models and engines declared workflows are told; null: the one in force, else the newest. */
  readonly plan: string | null;
  readonly open: (typeof dialogs)[number] | null;
  /** The program whose configurations are drawn; null: the newest. */
  readonly program: string | null;
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
    tab: readWord(params, "tab", workflowTabs) ?? "learnt",
    app: textIn(params, "app"),
    agent: textIn(params, "agent"),
    replica: textIn(params, "replica"),
    all: partsIn(params.get("all") ?? ""),
    snippet: readWord(params, "snippet", snippetLanguages) ?? "typescript",
    workflow: textIn(params, "workflow"),
    plan: textIn(params, "plan"),
    open: readWord(params, "open", dialogs),
    program: textIn(params, "program"),
  }),
  format: ({ tab, app, agent, replica, all, snippet, workflow, plan, open, program }) => ({
    tab: tab === "learnt" ? undefined : tab,
    app: app ?? undefined,
    agent: agent ?? undefined,
    replica: replica ?? undefined,
    all: all.length === 0 ? undefined : all.join(","),
    snippet: snippet === "typescript" ? undefined : snippet,
    workflow: workflow ?? undefined,
    plan: plan ?? undefined,
    open: open ?? undefined,
    program: program ?? undefined,
  }),
};
