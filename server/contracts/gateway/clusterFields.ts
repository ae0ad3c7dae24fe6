import { z } from "zod";
import { gatewayConfigSchema } from "./gatewayAdmin";

/** What a connection of every kind may say beside how engines are reached and started. */
export const clusterFields = {
  /** Who judges answers of plans that have no judge among their engines; null: nobody, so that only plans of one stage can be applied. */
  judge: gatewayConfigSchema.shape.judge.default(null),
  /** Where dcgm-exporters write their text, one a node; none: no figures of GPUs but those that nvidia-smi tells of this host. */
  dcgmUrls: z
    .array(z.url({ protocol: /^https?$/ }))
    .max(500)
    .default([]),
};
