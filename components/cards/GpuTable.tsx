import { formatGibibytes } from "../ui/format";
import { Table } from "../ui/Table";
import { PriceCell } from "./PriceCell";
import type { GpuEntry } from "./prepareCards";
import { RemoveCard } from "./RemoveCard";
import { Source } from "./Source";

const columns = [
  { key: "id", name: "GPU" },
  { key: "memory", name: "Memory", numeric: true },
  { key: "bandwidth", name: "Bandwidth", numeric: true },
  { key: "bf16", name: "Dense bf16 / fp8", numeric: true },
  { key: "link", name: "Link, one way", numeric: true },
  { key: "price", name: "Price per hour" },
  { key: "source", name: "Source" },
  { key: "act", name: "" },
];

/** Six digits: a small card's figures are not rounded to nothing. */
const inUnits = (perSecond: number, unit: number): string =>
  (perSecond / unit).toLocaleString("en-US", { maximumSignificantDigits: 6, maximumFractionDigits: 20 });
const tera = (perSecond: number): string => inUnits(perSecond, 1e12);

/** All kinds of GPUs that have a card. */
export function GpuTable({ gpus }: { readonly gpus: readonly GpuEntry[] }) {
  return (
    <Table caption="GPUs" columns={columns}>
      {gpus.map((card) => (
        <tr key={card.id} className="align-top">
          <td>
            <span className="whitespace-nowrap">{card.id}</span>
            <span className="block text-xs text-ink-3">{card.name}</span>
          </td>
          <td className="text-right whitespace-nowrap tabular-nums">{formatGibibytes(card.memoryBytes)}</td>
          <td className="text-right whitespace-nowrap tabular-nums">{tera(card.memoryBytesPerSecond)} TB/s</td>
          <td className="text-right whitespace-nowrap tabular-nums">
            {tera(card.denseFlopsBf16)} / {card.denseFlopsFp8 === null ? "–" : tera(card.denseFlopsFp8)} TFLOPS
          </td>
          <td className="text-right whitespace-nowrap tabular-nums">
            {card.link === "nvlink" ? "NVLink" : "PCIe"}, {inUnits(card.linkBytesPerSecond, 1e9)} GB/s
          </td>
          <td>
            <PriceCell gpu={card} />
          </td>
          <td>
            <Source own={card.own} provenance={card.provenance} />
          </td>
          <td className="text-right">{card.own && <RemoveCard kind="gpu" id={card.id} />}</td>
        </tr>
      ))}
    </Table>
  );
}
