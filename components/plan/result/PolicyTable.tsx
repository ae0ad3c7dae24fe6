import { Table } from "@/components/ui/Table";
import type { Plan } from "@/solver/plan/plan";
import { preparePolicies } from "./preparePolicies";

const columns = [
  { key: "policy", name: "Policy" },
  { key: "p95", name: "p95", numeric: true },
  { key: "quality", name: "Quality", numeric: true },
  { key: "gpus", name: "GPUs", numeric: true },
  { key: "cost", name: "$/request", numeric: true },
  { key: "reason", name: "Why not" },
] as const;

/** The best plan of each kind of policy on the same objective and GPUs. */
export function PolicyTable({ plan }: { readonly plan: Pick<Plan, "solver" | "inputs"> }) {
  return (
    <Table caption="Policies compared on at most the same GPUs" columns={columns}>
      {preparePolicies(plan.solver.policies ?? [], plan.inputs.objective).map(
        ({ kind, name, models, chosen, p95, quality, bound, gpus, cost, reason }) => (
          <tr key={kind} className={chosen ? "bg-sunken" : ""}>
            <td>
              <span className="font-medium whitespace-nowrap">{name}</span>{" "}
              {chosen && <span className="text-xs text-accent">this plan</span>}
              <span className="block text-xs text-ink-3">{models.join(", ")}</span>
            </td>
            <td className="text-right whitespace-nowrap">{p95}</td>
            <td className="text-right whitespace-nowrap">
              {quality} {bound !== null && <span className="text-xs text-ink-3">≥{bound}</span>}
            </td>
            <td className="text-right">{gpus}</td>
            <td className="text-right whitespace-nowrap">{cost}</td>
            <td className="min-w-48 text-ink-2">{reason}</td>
          </tr>
        ),
      )}
    </Table>
  );
}
