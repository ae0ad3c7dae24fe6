import { useMemo } from "react";
import type { LabRun } from "@/server/contracts/studio";
import { LineChart } from "../charts/LineChart";
import type { LinesPicture } from "../charts/prepareLines";
import { enginesModels } from "./composeSystem";
import type { LatencyKind } from "./labCodec";
import {
  prepareCdf,
  prepareLabFrontier,
  prepareLatencyByRate,
  prepareQueueByLength,
  prepareShares,
  prepareThroughput,
} from "./prepareFigures";
import type { SystemMark } from "./prepareSystems";
import { ShareBars } from "./ShareBars";

function Chart(props: {
  readonly title: string;
  readonly about: string;
  readonly empty: string;
  readonly picture: LinesPicture | null;
  readonly testId: string;
  readonly wide?: boolean;
}) {
  return (
    <section className={`min-w-0 ${props.wide ? "lg:col-span-2" : ""}`}>
      <h3 className="text-sm font-medium">{props.title}</h3>
      <p className="mb-2 text-xs text-ink-3">{props.about}</p>
      {props.picture === null ? (
        <p className="flex h-60 items-center justify-center text-sm text-ink-3">{props.empty}</p>
      ) : (
        <LineChart
          picture={props.picture}
          testId={props.testId}
          summary={`${props.title}. ${props.about} The table above has the figures.`}
        />
      )}
    </section>
  );
}

/** Charts of the displayed systems: the frontier, and the figures behind it. */
export function FigureGrid(props: {
  readonly run: LabRun;
  readonly marks: readonly SystemMark[];
  readonly shown: readonly SystemMark[];
  readonly rate: number;
  readonly latency: LatencyKind;
}) {
  const { run, marks, shown, rate, latency } = props;
  const pictures = useMemo(
    () => ({
      frontier: prepareLabFrontier(run, { marks, shown }, { rate, latency }),
      cdf: prepareCdf(run, shown, rate),
      queue: prepareQueueByLength(run, shown, rate),
      latency: prepareLatencyByRate(run, shown, latency),
      throughput: prepareThroughput(run, shown),
      shares: prepareShares(run, shown, rate),
    }),
    [run, marks, shown, rate, latency],
  );
  const none = "No data yet.";
  return (
    <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
      <Chart
        title="Frontier"
        about="Down and right is better. A line joins all slacks of one system; bars are 90 % intervals over seeds. Letters of overlapping points are drawn side by side."
        empty="Quality is unknown, or no cell has finished yet."
        picture={pictures.frontier}
        testId="lab-frontier"
        wide
      />
      <Chart
        title="Latency of programs"
        about="Share of programs served within a time, at the chosen rate; the slowest hundredth is left out."
        empty={none}
        picture={pictures.cdf}
        testId="lab-cdf"
      />
      <Chart
        title="Queue time by length"
        about="Tenths of programs by tokens written: the gain of short programs and the cost to long ones."
        empty={none}
        picture={pictures.queue}
        testId="lab-queue"
      />
      <Chart title="Latency against rate" about="At every rate of the run." empty={none} picture={pictures.latency} testId="lab-latency" />
      <Chart
        title="Throughput against rate"
        about="From the first arrival to the last answer. It is below the rate by the time that the last programs take, and where engines are overloaded."
        empty={none}
        picture={pictures.throughput}
        testId="lab-throughput"
      />
      <section className="min-w-0">
        <h3 className="mb-2 text-sm font-medium">Share of models</h3>
        <ShareBars rows={pictures.shares} models={enginesModels(run.spec.replicas)} />
      </section>
    </div>
  );
}
