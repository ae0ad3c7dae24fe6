import { Badge } from "../ui/Badge";
import { Table } from "../ui/Table";
import type { PlacementPicture } from "./preparePlacement";

const columns = [
  { key: "k", name: "K", numeric: true },
  { key: "makespan", name: "Experts done after", numeric: true },
  { key: "beside", name: "Beside the least", numeric: true },
] as const;

/** What more models on a worker are worth. */
export function SweepTable({ rows }: { readonly rows: PlacementPicture["sweep"] }) {
  return (
    <Table caption="Time by models of a worker" columns={columns}>
      {rows.map((row) => (
        <tr key={row.k} className={row.chosen ? "bg-accent-soft" : ""} aria-current={row.chosen ? "true" : undefined}>
          <td className="text-right">
            {row.chosen && <Badge tone="accent">chosen</Badge>} {row.k}
          </td>
          <td className="text-right whitespace-nowrap">{row.makespan}</td>
          <td className="text-right whitespace-nowrap">{row.beside}</td>
        </tr>
      ))}
    </Table>
  );
}
