import { quantile } from "@/solver/numeric/quantile";
import { atMost, type Benchmark } from "../lib/benchmark";
import { type MinuteReport, runFaultMix } from "./mixRun";
import { cycleSeconds } from "./parties";

const runMinutes = 10;
const count = (value: number): string => Math.round(value).toLocaleString("en");
const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;

function sumsOf({ sent, seen }: Pick<MinuteReport, "sent" | "seen">): string {
  const { answered, shed, failed, left, lost } = seen;
  return `${count(sent)} sent: ${count(answered)} answered, ${count(shed)} shed, ${count(failed)} failed, ${count(left)} left, ${count(lost)} lost`;
}

const soak: Benchmark = {
  name: "gateway in the fault mix, memory after 10 minutes over 2",
  budget: atMost(1.15, "records of ended requests, connections or plans are never given up"),
  async run() {
    let minutes = 0;
    const report = await runFaultMix({
      cycles: (runMinutes * 60) / cycleSeconds,
      onMinute(minute) {
        minutes += 1;
        const used = `${megabytes(minute.rssBytes)} resident, ${megabytes(minute.heapBytes)} of it objects, ${(100 * minute.cpuShare).toFixed(0)} % of a core`;
        // In addition to the table, which goes to the standard output.
        process.stderr.write(`minute ${minutes}: ${sumsOf(minute)}; ${used}\n`);
      },
    });
    const { ledger, counted, throughMs, straightMs } = report;
    const wrong = [
      ...report.complaints,
      ...ledger.losses,
      ...ledger.contradictions,
      ...(ledger.unrecorded > 0 ? [`${ledger.unrecorded} answers are not on record`] : []),
      ...(report.missed > 0 ? [`${report.missed} records were gone before they were read`] : []),
    ];
    if (wrong.length > 0) throw new Error(`The fault mix lost ${wrong.length}: ${wrong.slice(0, 5).join("; ")}`);
    const [second, last] = [report.minutes[1], report.minutes.at(-1)];
    const added = (q: number): string => `p${q * 100} ${(quantile(throughMs, q) - quantile(straightMs, q)).toFixed(2)} ms`;
    const detail = [
      sumsOf(ledger),
      `its own counters: ${count(counted.answered)} answered, ${count(counted.shed)} shed, ${count(counted.failed)} failed, ${count(counted.left)} left`,
      `${report.planSwitches} plans put into force`,
      `${megabytes(second?.rssBytes ?? 0)} at 2 minutes, ${megabytes(last?.rssBytes ?? 0)} at ${report.minutes.length}`,
      `added for an engine that is well: ${added(0.5)}, ${added(0.99)}`,
    ];
    return { figure: (last?.rssBytes ?? 0) / (second?.rssBytes ?? 0), unit: "x", detail: detail.join("; ") };
  },
};

/** The gateway over ten minutes in which everything around it breaks. */
export const faultMixBenchmarks: readonly Benchmark[] = [soak];
