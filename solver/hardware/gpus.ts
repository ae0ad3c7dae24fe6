import { z } from "zod";
import { provenanceSchema } from "../engine/provenance";
import { measuredGpus } from "./kernelCoefficients";
import table from "./tables/gpus.json" with { type: "json" };

/** One kind of GPU. Compute figures are dense (no sparsity), links one way per GPU. */
const gpuCardSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  memoryBytes: z.number().positive(),
  memoryBytesPerSecond: z.number().positive(),
  denseFlopsBf16: z.number().positive(),
  /** null: no fp8 tensor cores, so fp8 weights save memory and bandwidth but compute runs at the bf16 rate. */
  denseFlopsFp8: z.number().positive().nullable(),
  /** The link between the GPUs of a node. */
  link: z.enum(["nvlink", "pcie"]),
  linkBytesPerSecond: z.number().positive(),
  pcieBytesPerSecond: z.number().positive(),
  /** Board power limit; null where no source was consulted. */
  powerWatts: z.number().positive().nullable(),
  /** GPU whose measured kernel efficiencies serve this one; another id than its own means extrapolated. */
  efficienciesOf: z.enum(measuredGpus),
  /** An editable default, not a fact: list prices change monthly and differ tenfold by provider. null: no list price known. */
  usdPerGpuHour: z.number().positive().nullable(),
  price: z.strictObject({ provider: z.string(), asOf: z.string(), source: z.string() }).nullable(),
  provenance: provenanceSchema,
});

export type GpuCard = Readonly<z.infer<typeof gpuCardSchema>>;

/** Every GPU that Weir includes (`tables/gpus.json`), by id. */
export const gpuCards: Readonly<Record<string, GpuCard>> = Object.fromEntries(
  z
    .array(gpuCardSchema)
    .parse(table)
    .map((card) => [card.id, card]),
);

/** The card of a GPU id such as `h100-sxm`; undefined when there is none. */
export function gpuCard(id: string): GpuCard | undefined {
  return Object.hasOwn(gpuCards, id) ? gpuCards[id] : undefined;
}
