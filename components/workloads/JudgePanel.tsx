import type { WorkloadDetail, WorkloadSummary } from "@/server/contracts/studio";
import { JudgeTrust } from "../labelling/JudgeTrust";
import { DataTable } from "../ui/DataTable";
import { formatCount } from "../ui/format";
import { ModelName } from "../ui/ModelChip";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Panel } from "../ui/Panel";
import { Table } from "../ui/Table";
import { JudgeBadge } from "./JudgeBadge";
import { aucText, prepareJudged } from "./prepareWorkload";

const box = { width: 100, height: 30 } as const;

interface Judged {
  readonly column: WorkloadDetail["models"][number];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly isModelled: boolean;
}

/** The distribution of the judged scores of one model's answers, for right and for wrong ones. */
function JudgedModel({ column: { model, judgedByLabel, judgeAuc }, identities, isModelled }: Judged) {
  const { bars, right, wrong } = prepareJudged(judgedByLabel);
  const width = box.width / bars.length;
  return (
    <figure className="m-0 flex min-w-0 flex-col gap-1" data-testid={`judged-${model}`}>
      <figcaption className="flex flex-col gap-0.5 text-xs text-ink-2">
        <span className="text-sm text-ink">
          <ModelName model={model} identities={identities} />
        </span>
        <span>{judgeAuc === null ? "All labels are equal: the reliability of the scores is unknown." : `AUC ${aucText(judgeAuc)}`}</span>
        <span className="text-ink-3">
          {formatCount(right)} right, {formatCount(wrong)} wrong
        </span>
      </figcaption>
      <svg
        role="img"
        aria-label={`Judged scores of ${model}: right answers above, wrong ones below`}
        viewBox={`0 ${-box.height} ${box.width} ${2 * box.height}`}
        preserveAspectRatio="none"
        className="h-24 w-full"
      >
        {bars.map((bar, at) => (
          <g key={bar.key} opacity={isModelled ? 0.6 : 0.9}>
            <title>{`${bar.scores}: ${bar.rightText} of the right, ${bar.wrongText} of the wrong`}</title>
            <rect
              x={at * width + 0.3}
              width={width - 0.6}
              y={-bar.right * (box.height - 1)}
              height={bar.right * (box.height - 1)}
              fill="var(--accent)"
            />
            <rect x={at * width + 0.3} width={width - 0.6} y={0} height={bar.wrong * (box.height - 1)} fill="var(--warn)" />
          </g>
        ))}
        <path d={`M0 0H${box.width}`} stroke="var(--line-strong)" strokeWidth="0.5" vectorEffect="non-scaling-stroke" />
      </svg>
      <div className="flex justify-between text-xs text-ink-3">
        <span>0</span>
        <span>judged score</span>
        <span>100</span>
      </div>
    </figure>
  );
}

/** Judged scores against labels, for each model separately: a gate compares scores of one stage only. */
export function JudgePanel(props: {
  readonly summary: WorkloadSummary;
  readonly detail: WorkloadDetail;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}) {
  const { summary, detail, identities } = props;
  // Labels can be wrong too.
  const by = summary.measured === undefined ? "by their label" : `by "${summary.measured.label.name}"`;
  const isModelled = summary.judge.kind === "modelled";
  return (
    <Panel title="Label against judged score" aside={<JudgeBadge workload={summary} />}>
      <p className="mb-3 max-w-prose text-xs text-ink-2">
        Judged scores of answers that are right {by} (above) and of those that are wrong (below), each as shares of its own total. AUC: how
        often, of two answers of the same model, the right one scores higher than the wrong one. A coin has 0.50.
      </p>
      <div className="grid gap-4 [grid-template-columns:repeat(auto-fill,minmax(min(180px,100%),1fr))]">
        {detail.models.map((column) => (
          <JudgedModel key={column.model} column={column} identities={identities} isModelled={isModelled} />
        ))}
      </div>
      {detail.judgedPairs.length > 0 && (
        <div className="mt-4">
          <DataTable
            caption="How well judged scores select prompts to escalate"
            rows={detail.judgedPairs}
            rowKey={({ smaller, larger }) => `${smaller} ${larger}`}
            columns={[
              { name: "Scores of", cell: ({ smaller }) => <ModelName model={smaller} identities={identities} /> },
              { name: "Escalated to", cell: ({ larger }) => <ModelName model={larger} identities={identities} /> },
              { name: "AUC of escalation", numeric: true, cell: ({ auc }) => (auc === null ? "gains alike on all" : aucText(auc)) },
            ]}
          />
          <p className="mt-1 max-w-prose text-xs text-ink-3">
            How often, of two prompts with different gains from the larger model, the one with the larger gain has the lower score.
          </p>
        </div>
      )}
      <details className="mt-2 text-sm">
        <summary className="cursor-pointer text-xs text-ink-2">View as tables</summary>
        {detail.models.map(({ model, judgedByLabel }) => (
          <Table
            key={model}
            caption={`Judged scores of right and of wrong answers of ${model}`}
            columns={[
              { key: "scores", name: `Judged score, ${model}` },
              { key: "right", name: "Of the right", numeric: true },
              { key: "wrong", name: "Of the wrong", numeric: true },
            ]}
          >
            {prepareJudged(judgedByLabel).bars.map((bar) => (
              <tr key={bar.key}>
                <td>{bar.scores}</td>
                <td className="text-right">{bar.rightText}</td>
                <td className="text-right">{bar.wrongText}</td>
              </tr>
            ))}
          </Table>
        ))}
      </details>
      {summary.profileId !== null && <JudgeTrust jobId={summary.profileId} workloadId={summary.id} />}
    </Panel>
  );
}
