import { atMost, type Benchmark } from "../lib/benchmark";
import { fourSpare, noneSpare, onlyEngine, type RollOutReport, runRollOuts, type Scenario } from "./rollOutRun";

/** Clients, gateway and engines on two cores sustain a hundred requests a second. */
const timeScale = 1;
const restSeconds = 5;

/** Everything that was not a whole answer with status 200, by whichever count is larger. */
function failedOf({ phases, decisions }: RollOutReport): number {
  const byClients = phases.reduce((sum, { failed }) => sum + failed, 0);
  return Math.max(byClients, decisions.failures.length + decisions.refused);
}

function detailOf(report: RollOutReport): string {
  const { capacityPerSecond, requestsPerSecond, predictedP95Seconds, dip, movedShare, phases, decisions, ends } = report;
  const load = `${requestsPerSecond.toFixed(1)} requests per engine second of ${capacityPerSecond.toFixed(1)} simulated, ${Math.round(100 * movedShare)} % of the GPUs moved`;
  const seen = phases.map(
    ({ phase, requests, failed, p95Seconds }) => `${phase}: ${requests} requests, ${failed} failed, p95 ${p95Seconds.toFixed(1)} s`,
  );
  const list = `the gateway's records: ${decisions.decided}, ${decisions.failures.length} failed, ${decisions.refused} refused`;
  return [load, `predicted p95 ${predictedP95Seconds.toFixed(1)} s, forwards: ${dip.says}`, ...seen, list, ends.join(", ")].join("; ");
}

const underLoad = (scenario: Scenario): Benchmark => ({
  name: `roll-out under load, failed requests, ${scenario.name}`,
  budget: atMost(0, "an engine ends before its requests do, or the gateway sends to one that is not there"),
  async run() {
    const report = await runRollOuts({ scenario, timeScale, restSeconds });
    if (!report.isBack) throw new Error(`The first plan is not in force at the end: ${report.ends.join(", ")}`);
    for (const failure of [...report.failures, ...report.decisions.failures].slice(0, 5)) process.stderr.write(`${failure}\n`);
    return { figure: failedOf(report), unit: "requests", detail: detailOf(report) };
  },
});

/** Plans applied, aborted half way and rolled back while clients load the cluster to 60 % of its rate. */
export const rollOutBenchmarks: readonly Benchmark[] = [noneSpare, fourSpare, onlyEngine].map(underLoad);
