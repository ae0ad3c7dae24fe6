import type { WorkloadDetail, WorkloadSummary } from "@/server/contracts/studio";
import { formatCount, formatCounted } from "../ui/format";
import { ModelName } from "../ui/ModelChip";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Panel } from "../ui/Panel";
import { Table } from "../ui/Table";
import { noiseFloorText, prepareSteps, withHalf } from "./prepareWorkload";

/** Quality, judged score and length of each model, and which differences this number of prompts can show. */
export function QualityPanel(props: {
  readonly summary: WorkloadSummary;
  readonly detail: WorkloadDetail;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}) {
  const { summary, detail, identities } = props;
  const floor = noiseFloorText(detail);
  return (
    <Panel title="Quality by model" aside={<span>90 % intervals over {formatCount(summary.prompts)} prompts</span>}>
      <Table
        caption="Quality, judged score and length of each model"
        columns={[
          { key: "model", name: "Model" },
          { key: "quality", name: "Quality", numeric: true },
          { key: "judged", name: summary.judge.kind === "modelled" ? "Judged (modelled)" : "Judged", numeric: true },
          { key: "tokens", name: "Tokens an answer", numeric: true },
          { key: "table", name: "In the table" },
        ]}
      >
        {detail.models.map(({ model, quality, meanJudged, meanOutputTokens }) => (
          <tr key={model}>
            <td>
              <ModelName model={model} identities={identities} />
            </td>
            <td className="text-right whitespace-nowrap">{withHalf(quality)}</td>
            <td className="text-right whitespace-nowrap text-ink-2">{withHalf(meanJudged)}</td>
            <td className="text-right whitespace-nowrap text-ink-2">{withHalf(meanOutputTokens, formatCount, formatCount)}</td>
            <td className="whitespace-nowrap text-ink-3">{summary.models.find((one) => one.model === model)?.tableName}</td>
          </tr>
        ))}
      </Table>
      {floor !== null && (
        <>
          <ul className="mt-3 flex list-none flex-col gap-1 text-sm">
            {prepareSteps(detail.agreement).map((step) => (
              <li key={step.key} className="flex flex-wrap items-center gap-x-2">
                <ModelName model={step.larger} identities={identities} />
                <span className="text-ink-3">over</span>
                <ModelName model={step.smaller} identities={identities} />
                <span className="whitespace-nowrap">{step.difference} points</span>
                {step.noise !== null && <span className="text-xs font-semibold text-warn">{step.noise}</span>}
              </li>
            ))}
          </ul>
          <p className="mt-2 max-w-prose text-xs text-ink-3">
            With {formatCounted(summary.prompts, "prompt")}, differences below {floor} may be chance; four times as many prompts halve that.
          </p>
        </>
      )}
    </Panel>
  );
}
