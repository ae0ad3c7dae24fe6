import { z } from "zod";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { hostedModelSchema } from "@/solver/hardware/hostedModel";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { machineName, title } from "@/solver/wording/names";
import { must } from "./exitCodes";
import { readYamlFile } from "./yamlFile";

/** A cluster larger than this is a typing error. */
export const MOST_NODES = 1024;
export const MOST_GPUS_PER_NODE = 16;

type Gpus = CardCatalogue["gpus"];

const name = machineName;
const usd = z.number().min(0).max(1000);

/** Missing prices are the cards' list prices. */
const clusterFileSchema = z.strictObject({
  name: title.optional(),
  /** Type of the nodes without their own. */
  gpu: name,
  nodes: z
    .array(z.strictObject({ name, gpus: z.int().min(1).max(MOST_GPUS_PER_NODE), gpu: name.optional() }))
    .min(1)
    .max(MOST_NODES),
  usdPerGpuHour: usd.optional(),
  /** USD per GPU hour of the other types. */
  prices: z.record(z.string(), usd).optional(),
  /** Models that providers host, for workloads whose data may leave the house. */
  hosted: z.array(hostedModelSchema).max(20).optional(),
});

type ClusterFile = z.output<typeof clusterFileSchema>;

/**
 * The cluster that a YAML file describes, of one GPU type or several;
 * @throws Refusal with file, line and field if it is invalid.
 */
export function readClusterFile(path: string, gpus: Gpus): ClusterSpec {
  const { value: file } = must(readYamlFile("--cluster", path, plannable(gpus)));
  const { gpu, nodes, hosted } = file;
  const others = otherTypes(file);
  const prices = Object.fromEntries([gpu, ...others].map((type) => [type, priceOf(file, type, gpus) ?? 0]));
  return {
    id: "described",
    name: file.name ?? nodes.map((node) => `${node.gpus} ${node.gpu ?? gpu}`).join(" + "),
    kind: "described",
    gpu,
    nodes,
    usdPerGpuHour: prices[gpu] ?? 0,
    ...(hosted === undefined ? {} : { hosted }),
    ...(others.length === 0 ? {} : { otherUsdPerGpuHour: Object.fromEntries(others.map((type) => [type, prices[type] ?? 0])) }),
  };
}

/** Lists the GPU cards. */
export const noGpuCard = (gpu: string, gpus: Gpus): string => `there is no GPU card "${gpu}"; known: ${Object.keys(gpus).join(", ")}`;

const otherTypes = ({ gpu, nodes }: ClusterFile): readonly string[] => [
  ...new Set(nodes.flatMap((node) => (node.gpu === undefined || node.gpu === gpu ? [] : [node.gpu]))),
];

const priceOf = ({ gpu, usdPerGpuHour, prices }: ClusterFile, type: string, gpus: Gpus): number | null =>
  (type === gpu ? usdPerGpuHour : prices?.[type]) ?? cardOf(gpus, type)?.usdPerGpuHour ?? null;

/** Whether every GPU type has a card and a price, every price a type, and every node its own name. */
const plannable = (gpus: Gpus) =>
  clusterFileSchema.superRefine((file, context) => {
    const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
    const check = (path: (string | number)[], type: string, priced: string): void => {
      if (cardOf(gpus, type) === undefined) refuse(path, noGpuCard(type, gpus));
      else if (priceOf(file, type, gpus) === null) refuse(path, `no list price is known for ${type}; give one under ${priced}`);
    };
    check(["gpu"], file.gpu, "usdPerGpuHour");
    const names = file.nodes.map((node) => node.name);
    for (const [index, node] of file.nodes.entries()) {
      if (names.indexOf(node.name) < index) refuse(["nodes", index, "name"], `another node is called ${node.name}`);
      if (node.gpu !== undefined && node.gpu !== file.gpu) check(["nodes", index, "gpu"], node.gpu, "prices");
    }
    for (const type of Object.keys(file.prices ?? {})) {
      if (type === file.gpu) refuse(["prices", type], "the price of the cluster's own type is usdPerGpuHour");
      else if (!otherTypes(file).includes(type)) refuse(["prices", type], "no node has this GPU type");
    }
  });
