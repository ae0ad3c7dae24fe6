import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { Badge } from "../ui/Badge";
import { Table } from "../ui/Table";
import { coefficientLines } from "./prepareProfile";

/** A profile's coefficients with where each comes from, beside those of another where there is one. */
export function CoefficientTable({ profile, before }: { readonly profile: EngineProfile; readonly before: EngineProfile | null }) {
  const columns = [
    { key: "words", name: "Coefficient" },
    { key: "value", name: before === null ? "Value" : "Fitted", numeric: true },
    ...(before === null ? [] : [{ key: "before", name: "Before", numeric: true }]),
    { key: "kind", name: "Provenance" },
    { key: "source", name: "Source" },
  ];
  return (
    <Table caption={`Coefficients of ${profile.name}`} columns={columns}>
      {coefficientLines(profile, before).map((line) => (
        <tr key={line.name}>
          <td>{line.words}</td>
          <td className="text-right whitespace-nowrap">{line.value}</td>
          {before !== null && <td className="text-right whitespace-nowrap text-ink-3">{line.before}</td>}
          <td>
            <Badge tone={line.kind === "extrapolated" ? "hatched" : "neutral"}>{line.kind}</Badge>
          </td>
          <td className="min-w-48 text-xs text-ink-3">{line.source}</td>
        </tr>
      ))}
    </Table>
  );
}
