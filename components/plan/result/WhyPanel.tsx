import { formatCount, formatPercent, formatScore } from "@/components/ui/format";
import { NoteList } from "@/components/ui/Notes";
import { Table } from "@/components/ui/Table";
import { GateWarning } from "@/components/workloads/GateWarning";
import type { Plan } from "@/solver/plan/plan";
import { directStartOf } from "@/solver/plan/policySchema";
import { loadSays } from "@/solver/wording/wording";
import type { RoutingChoice } from "../address/routingKey";
import { OtherCascades } from "../choose/OtherCascades";
import { alternationText } from "./alternationText";

/** @param directStart whether requests may start at a later stage instead of being escalated to it. */
const outlookColumns = (directStart: boolean) =>
  [
    { key: "auc", name: "If the judge's AUC is" },
    { key: "quality", name: "Quality", numeric: true },
    { key: "share", name: directStart ? "Reach later stages" : "Escalated", numeric: true },
    { key: "load", name: "Busiest stage", numeric: true },
  ] as const;

/** The same thresholds on the same GPUs if the modelled judge were better or worse than assumed. */
function JudgeOutlooks({ plan }: { readonly plan: Plan }) {
  const { judgeOutlooks } = plan.predictions;
  if (judgeOutlooks.length === 0) return null;
  return (
    <Table caption="Under other judges" columns={outlookColumns(directStartOf(plan.policy) !== undefined)}>
      {judgeOutlooks.map(({ auc, quality, share, busiestLoad }) => (
        <tr key={auc}>
          <td>
            {auc.toFixed(2)}
            {auc === plan.inputs.workload.judge.auc && " (assumed)"}
            {auc === 0.5 && " (a coin)"}
            {auc === 1 && " (an oracle)"}
          </td>
          <td className="text-right">{formatScore(quality)}</td>
          <td className="text-right">{share.slice(1).map(formatPercent).join(", ")}</td>
          <td className="text-right">{loadSays(busiestLoad)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Why this plan was chosen, and what to know before trusting it. */
export function WhyPanel(props: { readonly plan: Plan; readonly chosen: boolean; readonly onChoose: (routing: RoutingChoice) => void }) {
  const { plan } = props;
  const { solver, predictions, inputs } = plan;
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <div className="flex flex-col gap-2">
        <h3 className="text-sm font-semibold">What limits this plan</h3>
        <NoteList items={solver.why} className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2" />
        {solver.shapes !== undefined && solver.shapes.length > 0 && (
          <>
            <h3 className="mt-2 text-sm font-semibold">Why these shapes</h3>
            <ul className="flex list-none flex-col gap-1 text-sm text-ink-2">
              {solver.shapes.map(({ model, says }) => (
                <li key={`${model} ${says}`}>
                  <span className="font-medium text-ink">{model}</span>: {says}
                </li>
              ))}
            </ul>
          </>
        )}
        {solver.alternation !== undefined && <p className="text-sm text-ink-2">{alternationText(solver.alternation)}</p>}
        {solver.alternatives.length > 0 && (
          <OtherCascades alternatives={solver.alternatives} chosen={props.chosen} onChoose={props.onChoose} />
        )}
      </div>
      <div className="flex flex-col gap-2">
        <h3 className="text-sm font-semibold">Limits of these figures</h3>
        <GateWarning plan={plan} />
        <NoteList items={predictions.notes} className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2" />
        <JudgeOutlooks plan={plan} />
        <p className="text-xs text-ink-3">
          {formatCount(solver.evaluatedThresholds)} threshold settings and {formatCount(solver.replicaSimulations)} replica simulations on{" "}
          {formatCount(inputs.workload.sampleRequests)} requests; the tables were {formatPercent(Math.abs(predictions.tableError))} from the
          full simulation of this plan; {solver.engine}, seed {inputs.workload.seed}.
        </p>
      </div>
    </div>
  );
}
