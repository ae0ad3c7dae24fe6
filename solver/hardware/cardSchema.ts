import { z } from "zod";
import { enteredTitle, machineName, weightsSource } from "@/solver/wording/names";
import { architectureSchema } from "./architecture";
import { measuredGpus } from "./kernelCoefficients";

/** The largest value of a card: bytes, bytes a second or operations a second above it are taken as a typing error. */
export const MOST_CARD_FIGURE = 1e18;

/** The highest price of a GPU, in dollars an hour. */
export const MOST_GPU_PRICE_USD = 1000;

/** A longer text is taken as a typing error. */
const count = z.int().min(1).max(100_000_000);
const positive = z.number().positive("give a number above 0").max(MOST_CARD_FIGURE);

/** An id is used in addresses and flags: letters, digits, dots, hyphens and underscores. */
const id = z
  .string()
  .max(80)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "an id is made of letters, digits, dots, hyphens and underscores");

const source = z.string().trim().min(1).max(500);

export const userModelSchema = z.strictObject({
  id,
  huggingFace: weightsSource.max(200).nullable().default(null),
  architecture: architectureSchema,
  precision: z.enum(["bf16", "fp8", "int4"]),
  quantized: z.enum(["linear-layers", "routed-experts"]).default("linear-layers"),
  kvBytesPerValue: z.union([z.literal(1), z.literal(2)]).default(2),
  publishedParamsB: positive.nullable().default(null),
  maxContextTokens: count,
  source,
});

export const userGpuSchema = z.strictObject({
  id,
  name: enteredTitle,
  memoryBytes: positive,
  memoryBytesPerSecond: positive,
  denseFlopsBf16: positive,
  denseFlopsFp8: positive.nullable().default(null),
  link: z.enum(["nvlink", "pcie"]),
  linkBytesPerSecond: positive,
  pcieBytesPerSecond: positive,
  powerWatts: positive.nullable().default(null),
  efficienciesOf: z.enum(measuredGpus),
  source,
});

/** The user's price of a GPU, and the day (YYYY-MM-DD) it was set. */
const gpuPriceSchema = z.strictObject({
  usdPerGpuHour: z.number().positive("give a price above 0").max(MOST_GPU_PRICE_USD),
  asOf: z.iso.date(),
});

const uniqueIds = (cards: readonly { readonly id: string }[]): boolean => new Set(cards.map((card) => card.id)).size === cards.length;

/** The user's own cards and prices, as stored in `cards.json` and recorded in a plan made with them. */
export const userCardsSchema = z.strictObject({
  models: z.array(userModelSchema).refine(uniqueIds, "two models have the same id").default([]),
  gpus: z.array(userGpuSchema).refine(uniqueIds, "two GPUs have the same id").default([]),
  /** GPU id -> price, for shipped GPUs and the user's. */
  prices: z.record(machineName, gpuPriceSchema).default({}),
});

export type UserModel = z.infer<typeof userModelSchema>;
export type UserGpu = z.infer<typeof userGpuSchema>;
export type UserCards = z.infer<typeof userCardsSchema>;
