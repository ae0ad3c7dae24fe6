import { codecOf, text, type ViewOf, withDefault, word } from "@/components/url/addressFields";

export const workflowTabs = ["learnt", "declared", "just-in-time"] as const;
export type WorkflowTab = (typeof workflowTabs)[number];

export const snippetLanguages = ["typescript", "python"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Lists that open with what is commonest or first of them. */
const foldedParts = ["graph", "line", "pairs"] as const;
export type FoldedPart = (typeof foldedParts)[number];

/** Dialogs of declared workflows: to bring one, to change the one that is looked at, and to make a plan that runs some of them just in time. */
const dialogs = ["import", "edit", "plan"] as const;

/** Two names and a slash are no longer, nor is the name of an engine. */
const name = text(300);

/** The parts with one more, or without it. */
export const withPart = (parts: readonly FoldedPart[], part: FoldedPart, all: boolean): readonly FoldedPart[] =>
  foldedParts.filter((each) => (each === part ? all : parts.includes(each)));

/** The Workflows page's view, beside the cluster. */
export const workflowsCodec = codecOf({
  tab: withDefault(word(workflowTabs), "learnt"),
  /** The application whose graph is drawn; null: the one with most programs. */
  app: name,
  /** Key of the agent whose latencies are shown; null: the one that is called most. */
  agent: name,
  /** The replica whose requests are listed; null: none. */
  replica: name,
  /** Of what all is drawn and listed, the rare too. */
  all: {
    parse: (parts): readonly FoldedPart[] => foldedParts.filter((part) => parts?.split(",").includes(part)),
    format: (parts: readonly FoldedPart[]) => parts.join(",") || undefined,
  },
  snippet: withDefault(word(snippetLanguages), "typescript"),
  /** The declared workflow that is looked at; null: the first. */
  workflow: name,
  /** The plan over whose models and engines declared workflows are read; null: the one in force, else the newest. */
  plan: name,
  open: word(dialogs),
  /** The program whose configurations are drawn; null: the newest. */
  program: name,
});
export type WorkflowsView = ViewOf<typeof workflowsCodec>;
