import type { WorkloadDetail, WorkloadSummary } from "@/server/contracts/studio";
import { formatCount } from "../ui/format";
import { Panel } from "../ui/Panel";
import { Table } from "../ui/Table";
import { JudgeBadge } from "./JudgeBadge";
import { JudgeTrust } from "./JudgeTrust";
import { aucText, prepareJudged } from "./prepareWorkload";

const box = { width: 100, height: 30 } as const;

/** What the gate sees against what counts: how judged scores lie for answers that are right and for those that are wrong. */
export function JudgePanel(props: { readonly summary: WorkloadSummary; readonly detail: WorkloadDetail }) {
  const { summary, detail } = props;
  const { bars, right, wrong } = prepareJudged(detail.judgedByLabel);
  const width = box.width / bars.length;
  // Who says what is right may err too.
  const by = summary.measured === undefined ? "by their label" : `by "${summary.measured.label.name}"`;
  const isModelled = summary.judge.kind === "modelled";
  return (
    <Panel title="Label against judged score" aside={<JudgeBadge workload={summary} />}>
      <figure className="m-0 flex flex-col gap-1">
        <figcaption className="text-xs text-ink-2">
          Judged score of {formatCount(right)} answers that are right {by} (above) and {formatCount(wrong)} that are wrong (below), each as
          shares of its own
        </figcaption>
        <svg
          role="img"
          aria-label="Judged scores of right answers above, of wrong ones below"
          viewBox={`0 ${-box.height} ${box.width} ${2 * box.height}`}
          preserveAspectRatio="none"
          className="h-32 w-full"
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
      <p className="mt-2 text-sm">
        {detail.judgeAuc === null
          ? "All labels are alike: nothing tells how reliable the scores are."
          : `AUC ${aucText(detail.judgeAuc)}: of an answer that is right ${by} and one that is wrong the right one is scored higher so often. A coin has 0.50.`}
      </p>
      <details className="mt-2 text-sm">
        <summary className="cursor-pointer text-xs text-ink-2">View as table</summary>
        <Table
          caption="Judged scores of right and of wrong answers"
          columns={[
            { key: "scores", name: "Judged score" },
            { key: "right", name: "Of the right", numeric: true },
            { key: "wrong", name: "Of the wrong", numeric: true },
          ]}
        >
          {bars.map((bar) => (
            <tr key={bar.key}>
              <td>{bar.scores}</td>
              <td className="text-right">{bar.rightText}</td>
              <td className="text-right">{bar.wrongText}</td>
            </tr>
          ))}
        </Table>
      </details>
      {summary.profileId !== null && <JudgeTrust jobId={summary.profileId} workloadId={summary.id} />}
    </Panel>
  );
}
