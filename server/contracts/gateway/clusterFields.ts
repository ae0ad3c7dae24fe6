import { z } from "zod";
import { gatewayConfigSchema } from "./gatewayAdmin";

/** Fields of every kind of connection, in addition to how engines are reached and started. */
export const clusterFields = {
  /** The judge for plans that have no judge among their engines; null: none, so that only plans of one stage can be applied. */
  judge: gatewayConfigSchema.shape.judge.default(null),
  /** URLs of the dcgm-exporters, one per node; none: GPU figures only from nvidia-smi on this host. */
  dcgmUrls: z
    .array(z.url({ protocol: /^https?$/ }))
    .max(500)
    .default([]),
};
