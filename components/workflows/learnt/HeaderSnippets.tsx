"use client";

import { useQuery } from "@tanstack/react-query";
import { buttonClass } from "@/components/ui/Button";
import { CopyButton } from "@/components/ui/CopyButton";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { Table } from "@/components/ui/Table";
import { type SnippetLanguage, snippetLanguages } from "../graph/workflowsCodec";
import { agentHeaders } from "./agentHeaders";

const snippets: Readonly<Record<SnippetLanguage, { readonly name: string; readonly file: string }>> = {
  typescript: { name: "TypeScript", file: "weirAgents.ts" },
  python: { name: "Python", file: "weir_agents.py" },
};

const columns = [
  { key: "name", name: "Header" },
  { key: "says", name: "Meaning" },
] as const;

/** How an application states which agent calls: the headers, and files to copy that send them. */
export function HeaderSnippets(props: { readonly language: SnippetLanguage; readonly onLanguage: (language: SnippetLanguage) => void }) {
  const { file } = snippets[props.language];
  const path = `/agents/${file}`;
  const query = useQuery({
    queryKey: ["agents", file],
    queryFn: async ({ signal }) => {
      const response = await fetch(path, { signal });
      if (!response.ok) throw new Error(`The studio has no ${file} (${response.status}).`);
      return response.text();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Panel title="Name your agents">
      <div className="grid gap-4 xl:grid-cols-2">
        <div className="min-w-0">
          <p className="mb-2 text-sm text-ink-2">
            All headers are optional. An invalid name counts as missing: no call fails because of it. Names are single words.
          </p>
          <Table caption="Headers of a call" columns={columns} stacked>
            {agentHeaders.map((header) => (
              <tr key={header.name}>
                <td className="align-top">
                  <code className="font-mono text-xs whitespace-nowrap">{header.name}</code>
                </td>
                <td className="text-ink-2">{header.says}</td>
              </tr>
            ))}
          </Table>
        </div>
        <div className="flex min-w-0 flex-col gap-2">
          <nav aria-label="Language" className="flex gap-1 border-b">
            {snippetLanguages.map((each) => (
              <button
                key={each}
                type="button"
                aria-current={each === props.language ? "page" : undefined}
                onClick={() => props.onLanguage(each)}
                className={`-mb-px flex h-9 items-center border-b-2 px-3 text-sm ${each === props.language ? "border-accent font-medium text-ink" : "border-transparent text-ink-2 hover:text-ink"}`}
              >
                {snippets[each].name}
              </button>
            ))}
          </nav>
          <PanelState status={queryStatus(query, { what: `Reading ${file}` })}>
            {() => (
              <>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
                <pre className="max-h-72 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs" tabIndex={0}>
                  {query.data}
                </pre>
                <div className="flex flex-wrap items-center gap-2 text-sm">
                  <CopyButton text={query.data ?? ""} label={`Copy ${file}`} />
                  <a href={path} download={file} className={buttonClass()}>
                    Download
                  </a>
                </div>
              </>
            )}
          </PanelState>
        </div>
      </div>
    </Panel>
  );
}
