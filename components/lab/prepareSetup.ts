import type { LabReplicas, LabRun, LabSpec, WorkloadSummary } from "@/server/contracts/studio";
import { MAX_SEQUENCES } from "@/solver/hardware/replicaShapes";
import { fieldOf } from "../api/unwrapOutcome";
import type { Option } from "../ui/Field";
import { formatCounted, shortHash } from "../ui/format";
import { workloadOptions } from "../workloads/workloadOptions";
import type { LabView } from "./labCodec";
import { formatSpec } from "./specText";

type Workloads = readonly Pick<WorkloadSummary, "id" | "name" | "version">[];

/**
 * The workload that a race is suggested for: the one that the address names, else the cluster's, else the first. `note` reports that
 * the address names one that is not stored here.
 */
export function suggestedWorkload(
  workloads: Workloads,
  named: string | null,
  ofCluster: string | null,
): { readonly id: string | null; readonly note: string | null } {
  const kept = (id: string | null) => workloads.find((each) => each.id === id);
  const found = kept(named) ?? kept(ofCluster) ?? workloads[0];
  if (named === null || found === undefined || found.id === named) return { id: found?.id ?? null, note: null };
  return { id: found.id, note: `The workload in this address is not stored here: ${found.name} is used instead.` };
}

/** Workloads to choose from, including one that a description names even if it is not stored here. */
export function setupWorkloads(workloads: Workloads, workloadId: string): readonly Option[] {
  const options = workloadOptions(workloads);
  if (workloads.some(({ id }) => id === workloadId)) return options;
  return [{ value: workloadId, text: `a workload that is not stored here (${shortHash(workloadId)})` }, ...options];
}

/** Requests that one of the engines runs at once: vLLM's default where the description does not set it. */
export const requestsAtOnce = ({ maxSequences = MAX_SEQUENCES }: Pick<LabReplicas, "maxSequences">): number => maxSequences;

/** Engines that run so many requests at once. vLLM's default is not written, so that the description equals the one without it. */
export function withRequestsAtOnce({ maxSequences: _, ...engine }: LabReplicas, requests: number): LabReplicas {
  return requests === MAX_SEQUENCES ? engine : { ...engine, maxSequences: requests };
}

/** Engines in a line: "2 × qwen2.5-7b on l40s, tp 2, 16 requests at once". */
export const enginesText = (replicas: readonly LabReplicas[]): string =>
  replicas
    .map(({ model, gpu, tp, pp, count, maxSequences }) =>
      [
        `${count} × ${model} on ${gpu}`,
        ...(tp * pp > 1 ? [`tp ${tp}`] : []),
        ...(pp > 1 ? [`pp ${pp}`] : []),
        ...(maxSequences === undefined ? [] : [`${formatCounted(maxSequences, "request")} at once`]),
      ].join(", "),
    )
    .join("; ");

/** Rates already in the list, by position. */
export const repeatedRates = (rates: readonly number[]): readonly number[] =>
  rates.flatMap((rate, at) => (rates.indexOf(rate) < at ? [at] : []));

/** Why a description cannot be run, as far as the page can check itself; null where the studio must check. */
export function setupRefusal({ workloadId, rates }: Pick<LabSpec, "workloadId" | "rates">, workloads: Workloads): string | null {
  if (workloads.every(({ id }) => id !== workloadId)) {
    return `The workload of this description, ${shortHash(workloadId)}, is not stored here: choose another one above. The rest of the description stays.`;
  }
  const [repeated] = repeatedRates(rates);
  return repeated === undefined ? null : `Rate ${repeated + 1} is listed twice: change it or remove it.`;
}

/** Paths of a description's fields, with their names on the page. */
const places: readonly (readonly [RegExp, (match: RegExpMatchArray, spec: LabSpec) => string])[] = [
  [/^rates\.(\d+)$/, ([, at]) => `Rate ${Number(at) + 1}`],
  [/^seeds\.(\d+)$/, ([, at]) => `Seed ${Number(at) + 1}`],
  [/^replicas\.(\d+)(?:\..*)?$/, ([, at]) => `Engines, row ${Number(at) + 1}`],
  [/^mix\.(\d+)(?:\..*)?$/, ([, at]) => `Programs, workflow ${Number(at) + 1}`],
  [
    /^systems\.(\d+)\.replicas\.(\d+)(?:\..*)?$/,
    ([, at, row], { systems }) => `${systems[Number(at)]?.name ?? "A system"}, its own engines, row ${Number(row) + 1}`,
  ],
  [/^systems\.(\d+)(?:\..*)?$/, ([, at], { systems }) => systems[Number(at)]?.name ?? "A system"],
  [/^workloadId$/, () => "Workload"],
  [/^planId$/, () => "Plan"],
  [/^engineProfile$/, () => "Engine profile"],
  [/^arrivals$/, () => "Arrivals of programs"],
  [/^systems$/, () => "Systems"],
  [/^programs$/, () => "Programs"],
];

/** A refusal by the studio that uses the page's name of the field: for `rates.1` it says `Rate 2: …`. */
export function placedRefusal(error: Error, spec: LabSpec): string {
  const fault = fieldOf(error);
  for (const [pattern, words] of places) {
    const match = fault?.path.match(pattern);
    if (match) return `${words(match, spec)}: ${fault?.reason}`;
  }
  return error.message;
}

/** What the address of a run lacks to describe the run wherever it is opened; null where nothing is missing. */
export function describedRun(view: Pick<LabView, "run" | "spec">, run: Pick<LabRun, "id" | "spec">): Pick<LabView, "spec"> | null {
  if (view.run !== run.id) return null;
  const spec = formatSpec(run.spec);
  return view.spec === spec ? null : { spec };
}
