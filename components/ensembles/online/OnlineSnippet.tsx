"use client";

import { CopyButton } from "@/components/ui/CopyButton";
import { Panel } from "@/components/ui/Panel";
import { Tabs } from "@/components/ui/Tabs";
import { type SnippetLanguage, snippetLanguages } from "../address/ensemblesCodec";
import { onlineSnippet, snippetNames } from "./onlineSnippets";

/** How an application calls an ensemble, to copy. */
export function OnlineSnippet(props: {
  readonly gatewayUrl: string;
  readonly name: string;
  readonly hasSkills: boolean;
  readonly language: SnippetLanguage;
  readonly onLanguage: (language: SnippetLanguage) => void;
}) {
  const text = onlineSnippet(props.language, { baseUrl: `${props.gatewayUrl.replace(/\/$/, "")}/v1`, name: props.name });
  return (
    <Panel title="Call it">
      <div className="flex min-w-0 flex-col gap-2">
        <p className="text-sm text-ink-2">
          Any OpenAI client calls it by its name. Response headers give the votes and the author of the text; usage is the sum over all
          calls.
          {props.hasSkills && " Send a question's category in the header x-weir-category to call its most accurate experts."}
        </p>
        <Tabs label="Language" names={snippetNames} tabs={snippetLanguages} tab={props.language} onTab={props.onLanguage} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
        <pre className="max-h-72 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs" tabIndex={0}>
          {text}
        </pre>
        <div className="flex flex-wrap items-center gap-2 text-sm">
          <CopyButton text={text} label="Copy it" />
        </div>
      </div>
    </Panel>
  );
}
