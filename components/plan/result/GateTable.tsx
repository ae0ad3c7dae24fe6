import { Table } from "@/components/ui/Table";
import type { Plan } from "@/solver/plan/plan";
import { prepareGateRows } from "./prepareGateRows";

const columns = [
  { key: "gate", name: "Gate" },
  { key: "p95", name: "p95", numeric: true },
  { key: "quality", name: "Quality", numeric: true },
  { key: "gpus", name: "GPUs", numeric: true },
  { key: "cost", name: "$/request", numeric: true },
] as const;

/** The best plan with each kind of gate on the same objective and GPUs. */
export function GateTable({ gates }: { readonly gates: NonNullable<Plan["solver"]["comparedGates"]> }) {
  return (
    <Table caption="Gates compared at the same floor, on at most the same GPUs" columns={columns}>
      {prepareGateRows(gates).map(({ kind, name, models, chosen, p95, quality, bound, gpus, cost, reason }) => (
        <tr key={kind} className={chosen ? "bg-sunken" : ""}>
          <td>
            <span className="font-medium whitespace-nowrap">{name}</span> {chosen && <span className="text-xs text-accent">this plan</span>}
            <span className="block text-xs text-ink-3">{reason === "" ? models : reason}</span>
          </td>
          <td className="text-right whitespace-nowrap">{p95}</td>
          <td className="text-right whitespace-nowrap">
            {quality} {bound !== null && <span className="text-xs text-ink-3">≥{bound}</span>}
          </td>
          <td className="text-right">{gpus}</td>
          <td className="text-right whitespace-nowrap">{cost}</td>
        </tr>
      ))}
    </Table>
  );
}
