import { kvBytesPerToken } from "@/solver/hardware/modelCard";
import { formatCount } from "../ui/format";
import { Table } from "../ui/Table";
import { type ModelEntry, paramsText } from "./prepareCards";
import { RemoveCard } from "./RemoveCard";
import { Source } from "./Source";

const columns = [
  { key: "id", name: "Model" },
  { key: "params", name: "Parameters", numeric: true },
  { key: "precision", name: "Weights" },
  { key: "kv", name: "KV per token", numeric: true },
  { key: "context", name: "Context", numeric: true },
  { key: "source", name: "Source" },
  { key: "act", name: "" },
];

/** All models that have a card. */
export function ModelTable({ models }: { readonly models: readonly ModelEntry[] }) {
  return (
    <Table caption="Models" columns={columns}>
      {models.map((card) => (
        <tr key={card.id} className="align-top">
          <td>
            <span className="whitespace-nowrap">{card.id}</span>
            {card.huggingFace !== null && <span className="block text-xs text-ink-3">{card.huggingFace}</span>}
          </td>
          <td className="text-right whitespace-nowrap tabular-nums">{paramsText(card)}</td>
          <td className="whitespace-nowrap">
            {card.precision}
            {card.quantized === "routed-experts" && card.precision !== "bf16" && (
              <span className="block text-xs text-ink-3">experts only</span>
            )}
          </td>
          <td className="text-right whitespace-nowrap tabular-nums">{(kvBytesPerToken(card) / 1024).toFixed(1)} KiB</td>
          <td className="text-right whitespace-nowrap tabular-nums">{formatCount(card.maxContextTokens)}</td>
          <td>
            <Source own={card.own} provenance={card.provenance} />
          </td>
          <td className="text-right">{card.own && <RemoveCard kind="model" id={card.id} />}</td>
        </tr>
      ))}
    </Table>
  );
}
