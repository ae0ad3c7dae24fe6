import { useMemo } from "react";
import { LineChart } from "../charts/LineChart";
import type { LinesPicture } from "../charts/prepareLines";
import { Badge, StateWord } from "../ui/Badge";
import { DataTable } from "../ui/DataTable";
import { ModelMark } from "../ui/ModelChip";
import { Panel } from "../ui/Panel";
import { prepareReliability, prepareRiskCoverage, reliabilityRows, riskRows } from "./prepareGateCharts";
import type { GateRow, StageView } from "./prepareGates";

/** A gate's name, as the button that draws its reliability. */
function GateButton({ row, onChoose }: { readonly row: GateRow; readonly onChoose: (name: string) => void }) {
  return (
    <button
      type="button"
      aria-pressed={row.chosen}
      title={`Draw the reliability of ${row.name}`}
      onClick={() => onChoose(row.name)}
      className={`inline-flex items-center gap-1.5 rounded px-1 whitespace-nowrap hover:bg-sunken ${row.chosen ? "font-semibold" : ""}`}
    >
      <ModelMark identity={{ model: row.name, letter: row.letter, hue: row.hue }} />
      {row.name}
      {row.modelled && <Badge tone="hatched">modelled</Badge>}
    </button>
  );
}

function Chart(props: { readonly title: string; readonly about: string; readonly picture: LinesPicture | null; readonly testId: string }) {
  const { title, about, picture, testId } = props;
  return (
    picture !== null && (
      <section className="min-w-0">
        <h3 className="text-sm font-medium">{title}</h3>
        <p className="mb-2 text-xs text-ink-3">{about}</p>
        <LineChart picture={picture} testId={testId} summary={`${title}. ${about} The tables below have the figures.`} />
      </section>
    )
  );
}

/** The gates of one stage: the verdict, their figures, risk by coverage, and the reliability of the chosen one. */
export function StageGates(props: {
  readonly stage: StageView;
  /** Share of answers sent on, as in `50 %`. */
  readonly share: string;
  readonly onChoose: (name: string) => void;
}) {
  const { stage, share, onChoose } = props;
  const { figures, chosen } = stage;
  const risk = useMemo(() => prepareRiskCoverage(figures), [figures]);
  const reliability = useMemo(() => (chosen === null ? null : prepareReliability(chosen)), [chosen]);
  return (
    <Panel title={stage.title} aside={<span>{stage.about}</span>}>
      <div className="flex flex-col gap-4">
        <p>
          <StateWord tone={stage.verdict.tone}>{stage.verdict.text}</StateWord>
        </p>
        <DataTable
          caption={`Gates for ${stage.title}, on held-out answers`}
          stacked
          rows={stage.rows}
          rowKey={({ name }) => name}
          columns={[
            { name: "Gate", className: "max-sm:w-full", cell: (row) => <GateButton row={row} onChoose={onChoose} /> },
            { name: "AUC", numeric: true, cell: (row) => row.auc },
            { name: "ECE, raw", numeric: true, cell: (row) => row.rawError },
            { name: "ECE, calibrated", numeric: true, cell: (row) => row.error },
            { name: "Risk-coverage area", numeric: true, cell: (row) => row.area },
            { name: `Over random, ${share} sent on`, numeric: true, cell: (row) => row.overRandom },
            { name: "Extra per answer", numeric: true, cell: (row) => row.cost },
          ]}
        />
        <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
          <Chart
            title="Risk by coverage"
            about="Lower is better. N: answers accepted at random. A dashed line with a letter of the table is modelled."
            picture={risk}
            testId="risk-coverage"
          />
          {chosen !== null && (
            <Chart
              title={`Reliability of ${chosen.name}`}
              about={
                chosen.kind === "sequence"
                  ? "Its gates are calibrated each by itself: both curves are of its scores. Choose another gate in the table."
                  : chosen.calibration === null
                    ? "Too few planning answers for a calibration: raw scores are used. On the diagonal a score is the quality."
                    : "R: raw scores. K: calibrated scores. On the diagonal a score is the quality. Choose another gate in the table."
              }
              picture={reliability}
              testId="gate-reliability"
            />
          )}
        </div>
        <details className="text-sm">
          <summary className="cursor-pointer text-xs text-ink-2">View as tables</summary>
          <div className="mt-2 grid gap-x-8 gap-y-4 lg:grid-cols-2">
            <DataTable
              caption="Risk by coverage"
              rows={riskRows(figures)}
              rowKey={({ coverage }) => coverage}
              columns={[
                { name: "Accepted", cell: ({ coverage }) => coverage },
                ...stage.rows.map(({ name }, at) => ({
                  ...{ name: `Risk, ${name}`, numeric: true },
                  cell: ({ risks }: ReturnType<typeof riskRows>[number]) => risks[at],
                })),
              ]}
            />
            {chosen !== null && (
              <DataTable
                caption={`Reliability of ${chosen.name}`}
                rows={reliabilityRows(chosen)}
                rowKey={({ scores }) => scores}
                columns={[
                  { name: "Scores", className: "whitespace-nowrap", cell: ({ scores }) => scores },
                  { name: "Raw: answers", numeric: true, cell: ({ raw }) => raw.answers },
                  { name: "mean score, raw", numeric: true, cell: ({ raw }) => raw.score },
                  { name: "quality, raw", numeric: true, cell: ({ raw }) => raw.quality },
                  { name: "Calibrated: answers", numeric: true, cell: ({ calibrated }) => calibrated.answers },
                  { name: "mean score, calibrated", numeric: true, cell: ({ calibrated }) => calibrated.score },
                  { name: "quality, calibrated", numeric: true, cell: ({ calibrated }) => calibrated.quality },
                ]}
              />
            )}
          </div>
        </details>
      </div>
    </Panel>
  );
}
