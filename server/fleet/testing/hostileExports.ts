import { isDeepStrictEqual } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { ClusterConnection } from "@/server/fleet/connection";
import { type ExportFormat, exportPlan } from "@/server/fleet/exportPlan";
import { engineObjects } from "@/server/kubernetes/manifests";
import { engineApplication } from "@/server/ray/engineApplication";
import { rawSpecial } from "@/server/testing/hostileNames";
import { type HostileEngine, type HostilePlan, vllmArgs } from "./hostilePlan";

/** The text of an export. @throws Error if it is refused. */
export function exported({ plan, clusterId }: HostilePlan, connection: ClusterConnection, format: ExportFormat): string {
  const made = exportPlan(plan, { connection, clusterId, format });
  if (!made.ok) throw new Error(made.message);
  return made.value.text;
}

const rfc1123 = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const label = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

interface ReadObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly template?: { readonly spec: PodSpec } };
}
interface PodSpec {
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly containers: readonly { readonly command: readonly string[] }[];
}

/** What is wrong with the manifests of a plan as a YAML reader of this version sees them; empty: they hold exactly what went in. */
export function manifestFaults(hostile: HostilePlan, version: "1.1" | "1.2"): readonly string[] {
  const { plan, clusterId, engines, kubernetes } = hostile;
  const text = exported(hostile, kubernetes, "kubernetes");
  const documents = parseAllDocuments(text, { version });
  const read = documents.map((one) => one.toJS() as ReadObject);
  const wanted = new Map<string, unknown>();
  for (const engine of targetEngines(plan)) {
    const made = engineObjects(engine, { connection: kubernetes, clusterId, planId: plan.id });
    if (!made.ok) return [made.message];
    for (const object of made.value) wanted.set(`${object.kind}/${object.metadata.name}`, JSON.parse(JSON.stringify(object)));
  }
  const pods = read.flatMap(({ kind, spec }) => (kind === "Deployment" && spec.template !== undefined ? [spec.template.spec] : []));
  return [
    ...documents.flatMap(({ errors, warnings }) => [...errors, ...warnings].map(({ message }) => message)),
    ...(rawSpecial.test(text) ? ["a special character is not escaped"] : []),
    ...(isDeepStrictEqual(read, [...wanted.values()]) ? [] : ["the objects are not those that were written"]),
    ...read.flatMap(({ metadata }) => (rfc1123.test(metadata.name) ? [] : [`${metadata.name} is no name`])),
    ...read.flatMap(({ metadata }) =>
      Object.values(metadata.labels).flatMap((value) => (label.test(value) ? [] : [`${value} is no label`])),
    ),
    ...engines.flatMap((engine, at) => podFaults(engine, pods[at])),
  ];
}

/** Kubernetes reads `$(NAME)` as a variable and `$$(NAME)` as the text. */
const literal = (text: string): string => text.replaceAll("$(", "$$$$(");

function podFaults({ model, node, source, args }: HostileEngine, pod: PodSpec | undefined): readonly string[] {
  const command = vllmArgs({ model: literal(model), source: literal(source), args: args.map(literal) }, { host: "0.0.0.0", port: 8000 });
  const isWhole =
    isDeepStrictEqual(
      pod?.containers.map((one) => one.command),
      [["vllm", ...command]],
    ) && isDeepStrictEqual(pod?.nodeSelector, { "kubernetes.io/hostname": node });
  return isWhole ? [] : [`the pod of ${JSON.stringify(model)} is another`];
}

/** What is wrong with the Serve configuration of a plan, likewise. */
export function serveFaults(hostile: HostilePlan, version: "1.1" | "1.2"): readonly string[] {
  const { plan, clusterId, ray } = hostile;
  const text = exported(hostile, ray, "ray");
  const wanted = targetEngines(plan).map((engine) => {
    const made = engineApplication(engine, ray, clusterId);
    return made.ok ? (JSON.parse(JSON.stringify(made.value)) as unknown) : made.message;
  });
  return [
    ...(rawSpecial.test(text) ? ["a special character is not escaped"] : []),
    ...(isDeepStrictEqual(parse(text, { version }), { applications: wanted }) ? [] : ["the applications are not those that were written"]),
  ];
}
