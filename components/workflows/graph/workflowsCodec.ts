import { codecOf, text, type ViewOf, withDefault, word } from "@/components/url/addressFields";

export const workflowTabs = ["learnt", "declared", "mix", "just-in-time"] as const;
export type WorkflowTab = (typeof workflowTabs)[number];

export const snippetLanguages = ["typescript", "python"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Lists that show only the most common or the first entries by default. */
const foldedParts = ["graph", "line", "pairs"] as const;
export type FoldedPart = (typeof foldedParts)[number];

/** Dialogs of declared workflows: to add one, to edit the displayed one, and to make a plan that runs some of them just in time. */
const dialogs = ["import", "edit", "plan"] as const;

/** Maximum length of two names and a slash, and of an engine's name. */
const name = text(300);

/** The expanded lists with one added or removed. */
export const withPart = (parts: readonly FoldedPart[], part: FoldedPart, all: boolean): readonly FoldedPart[] =>
  foldedParts.filter((each) => (each === part ? all : parts.includes(each)));

/** The Workflows page's view, in addition to the cluster. */
export const workflowsCodec = codecOf({
  tab: withDefault(word(workflowTabs), "learnt"),
  /** The application whose graph is drawn; null: the one with most programs. */
  app: name,
  /** Key of the agent whose latencies are shown; null: the one with the most calls. */
  agent: name,
  /** The replica whose requests are listed; null: none. */
  replica: name,
  /** The lists that are shown completely, including rare entries. */
  all: {
    parse: (parts): readonly FoldedPart[] => foldedParts.filter((part) => parts?.split(",").includes(part)),
    format: (parts: readonly FoldedPart[]) => parts.join(",") || undefined,
  },
  snippet: withDefault(word(snippetLanguages), "typescript"),
  /** The displayed declared workflow; null: the first. */
  workflow: name,
  /** The plan whose models and engines declared workflows use; null: the one in force, else the newest. */
  plan: name,
  open: word(dialogs),
  /** The program whose configurations are drawn; null: the newest. */
  program: name,
});
export type WorkflowsView = ViewOf<typeof workflowsCodec>;
