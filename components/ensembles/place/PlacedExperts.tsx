import { Badge } from "@/components/ui/Badge";
import { ModelName } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Table } from "@/components/ui/Table";
import type { PlacedExpertRow } from "./preparePlacement";

const columns = [
  { key: "model", name: "Expert" },
  { key: "prompts", name: "Questions", numeric: true },
  { key: "perPrompt", name: "Each", numeric: true },
  { key: "load", name: "Load", numeric: true },
  { key: "tokens", name: "Tokens", numeric: true },
  { key: "replicas", name: "Workers", numeric: true },
  { key: "why", name: "Why" },
] as const;

/** The origin of a figure: measured ones are plain, all others are hatched, with the word. */
function Origin({ word, source }: { readonly word: string; readonly source: string }) {
  return (
    <Badge tone={word === "measured" ? "neutral" : "hatched"} title={source}>
      {word}
    </Badge>
  );
}

/** Experts of a placement: what they cost, where they are and why they are on as many workers. */
export function PlacedExperts(props: {
  readonly rows: readonly PlacedExpertRow[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}) {
  return (
    <Table caption="Experts as they are placed" columns={columns} stacked>
      {props.rows.map((row) => (
        <tr key={row.model} className="align-top">
          <td className="whitespace-nowrap">
            <ModelName model={row.model} identities={props.identities} />
          </td>
          <td data-name="questions" className="text-right">
            {row.prompts}
          </td>
          <td data-name="each" className="text-right whitespace-nowrap">
            {row.perPrompt}
            <div className="mt-0.5">
              <Origin word={row.costWord} source={row.costSource} />
            </div>
          </td>
          <td data-name="load" className="text-right whitespace-nowrap">
            {row.load}
            <div className="mt-0.5">
              <Origin word={row.loadWord} source={row.loadSource} />
            </div>
          </td>
          <td data-name="tokens" className="text-right whitespace-nowrap">
            {row.tokens}
            {row.shard !== "" && <div className="text-xs text-ink-3">{row.shard}</div>}
          </td>
          <td data-name="workers" className="text-right whitespace-nowrap">
            {row.replicas}
          </td>
          <td className="min-w-56 text-ink-2">{row.says}</td>
        </tr>
      ))}
    </Table>
  );
}
