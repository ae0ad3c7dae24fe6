import type { KernelProfile } from "@/solver/hardware/engineProfile";
import { Badge } from "../ui/Badge";
import { Table } from "../ui/Table";
import { coefficientLines, coefficientSources } from "./prepareProfile";

/** A profile's coefficients, with those of another where there is one, and the source of each; sources are listed once, below. */
export function CoefficientTable({ profile, before }: { readonly profile: KernelProfile; readonly before: KernelProfile | null }) {
  const columns = [
    { key: "words", name: "Coefficient" },
    { key: "value", name: before === null ? "Value" : "Fitted", numeric: true },
    ...(before === null ? [] : [{ key: "before", name: "Before", numeric: true }]),
    { key: "kind", name: "Provenance" },
  ];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Table caption={`Coefficients of ${profile.name}`} columns={columns}>
        {coefficientLines(profile, before).map((line) => (
          <tr key={line.name}>
            <td>{line.words}</td>
            <td className="text-right whitespace-nowrap">{line.value}</td>
            {before !== null && <td className="text-right whitespace-nowrap text-ink-3">{line.before}</td>}
            <td>
              <Badge tone={line.kind === "extrapolated" ? "hatched" : "neutral"}>{line.kind}</Badge>{" "}
              <span className="text-xs text-ink-3">
                [{line.source}] {line.known}
              </span>
            </td>
          </tr>
        ))}
      </Table>
      <ol aria-label={`Sources of ${profile.name}`} className="flex flex-col gap-1 text-xs text-ink-3">
        {coefficientSources(profile).map((source, index) => (
          <li key={source} className="break-words">
            [{index + 1}] {source}
          </li>
        ))}
      </ol>
    </div>
  );
}
