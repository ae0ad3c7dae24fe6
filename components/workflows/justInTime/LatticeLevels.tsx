import { cssPercent } from "@/components/charts/cssPercent";
import { formatCount } from "@/components/ui/format";
import { Table } from "@/components/ui/Table";
import type { Lattice } from "./prepareLattice";

const columns = [
  { key: "upgrades", name: "Steps up", numeric: true },
  { key: "all", name: "Configurations", numeric: true },
  { key: "accurate", name: "Predicted accurate", numeric: true },
  { key: "left", name: "Still possible", numeric: true },
  { key: "bar", name: "Drawn" },
] as const;

/**
 * The lattice by columns: how many configurations exist, count as accurate, and are still possible, for each number of steps up from the
 * smallest models.
 */
export function LatticeLevels({ lattice }: { readonly lattice: Lattice }) {
  const share = (count: number) => cssPercent(count / Math.max(1, lattice.widest));
  return (
    <div className="flex flex-col gap-1">
      <Table caption="Configurations by steps up from the smallest models throughout" columns={columns}>
        {lattice.levels.map(({ upgrades, all, accurate, left }) => (
          <tr key={upgrades}>
            <td className="text-right">{upgrades}</td>
            <td className="text-right">{formatCount(all)}</td>
            <td className="text-right">{formatCount(accurate)}</td>
            <td className="text-right font-medium">{formatCount(left)}</td>
            <td className="w-2/5">
              <span aria-hidden="true" className="flex h-3">
                <span className="bg-accent" style={{ width: share(left) }} />
                <span className="border-y border-ink-2" style={{ width: share(accurate - left) }} />
                <span className="bg-sunken" style={{ width: share(all - accurate) }} />
              </span>
            </td>
          </tr>
        ))}
      </Table>
      <p className="text-xs text-ink-3">
        Filled: predicted accurate and still possible. Outlined: predicted accurate, ruled out by earlier choices or scores. Pale: not
        predicted accurate.
      </p>
    </div>
  );
}
