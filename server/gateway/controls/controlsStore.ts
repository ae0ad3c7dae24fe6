import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import {
  canaryRequestSchema,
  canarySchema,
  captureRequestSchema,
  mirrorRequestSchema,
  panicSchema,
  shadowRequestSchema,
  signatureSchema,
  strictStagesSchema,
} from "@/server/contracts/gateway/gatewayControls";
import { hashOf } from "@/server/contracts/gateway/signedOrder";
import { reasonOf } from "@/server/lib/reasonOf";
import { isRecord } from "@/solver/collections/isRecord";
import { isMissing, writeDurably } from "../lib/durableFile";
import type { StudioOrders } from "../serving/studioOrders";

/** Controls that the studio's orders begin, with their paths. */
const controlPaths = {
  canary: "/canary",
  shadow: "/shadow",
  mirror: "/mirror",
  strictStages: "/strict-stages",
  capture: "/capture",
} as const;
export type OrderedControl = keyof typeof controlPaths;

/** What the studio signs of each: the request, without what the gateway adds. */
const requestSchemas: Readonly<Record<OrderedControl, z.ZodType>> = {
  canary: z.object(canaryRequestSchema.shape),
  shadow: z.object(shadowRequestSchema.shape),
  mirror: z.object(mirrorRequestSchema.shape),
  strictStages: z.object(signatureSchema.shape),
  capture: z.object(captureRequestSchema.shape),
};

const controlNames = Object.keys(controlPaths) as readonly OrderedControl[];

const keptSchemas = {
  panic: panicSchema.nullable().default(null),
  canary: canarySchema.nullable().default(null),
  shadow: shadowRequestSchema.nullable().default(null),
  mirror: mirrorRequestSchema.nullable().default(null),
  strictStages: strictStagesSchema.nullable().default(null),
  /** An ended capture states how long the prompts it left may stay. */
  capture: captureRequestSchema.extend({ sinceMs: z.number(), endedMs: z.number().nullable() }).nullable().default(null),
  /** The text that the studio signed for each control; empty where orders are not signed. */
  proofs: z.partialRecord(z.enum(["canary", "shadow", "mirror", "strictStages", "capture"]), z.string()).default({}),
};
const keptSchema = z.object(keptSchemas);

/** The part of the controls that survives a restart. */
export type KeptControls = z.infer<typeof keptSchema>;

/** Keeps an operator's interventions in live traffic in one file of the state directory. */
export class ControlsStore {
  readonly path: string;
  #written: Promise<void> = Promise.resolve();
  #kept: KeptControls = keptSchema.parse({});

  constructor(stateDirectory: string) {
    this.path = join(stateDirectory, "controls.json");
  }

  get kept(): KeptControls {
    return this.#kept;
  }

  /**
   * Loads what an earlier start kept, each control by itself: one unusable control, such as one of another version of the gateway, must not
   * clear a panic. Controls that the studio did not sign are not resumed, except a panic. A copy of the unusable file is kept next to it.
   * @returns what could not be resumed and why, in one sentence; null if all was.
   */
  async load(orders: StudioOrders): Promise<string | null> {
    try {
      const found: unknown = JSON.parse(await readFile(this.path, "utf8"));
      if (!isRecord(found)) throw new Error("it is not a JSON object");
      const unusable = Object.entries(keptSchemas).filter(([name, schema]) => !schema.safeParse(found[name]).success);
      const usable = Object.entries(found).filter(([name]) => !unusable.some(([one]) => one === name));
      const kept = keptSchema.parse(Object.fromEntries(usable));
      const unproven = controlNames.filter((name) => !isProven(name, kept, orders));
      this.#kept = { ...kept, ...Object.fromEntries(unproven.map((name) => [name, null])) };
      const left = [...unusable.map(([name]) => name), ...unproven.map((name) => `${name}, which the studio did not sign,`)];
      return left.length === 0 ? null : await this.#setAside(`${left.join(" and ")} in ${this.path}`);
    } catch (error) {
      if (isMissing(error)) return null;
      return this.#setAside(`${this.path} (${reasonOf(error)})`);
    }
  }

  /** Resolves when every pending write has ended, successfully or not. */
  get written(): Promise<void> {
    return this.#written;
  }

  /** Stores a part; durable when it returns. */
  keep(part: Partial<KeptControls>): Promise<void> {
    this.#kept = { ...this.#kept, ...part };
    const written = this.#written.then(() => writeDurably(this.path, JSON.stringify(this.#kept, null, 2)));
    this.#written = written.catch(() => undefined);
    return written;
  }

  /** Keeps a copy of the file before the next change of a control overwrites it. */
  async #setAside(what: string): Promise<string> {
    const copy = `${this.path}.unusable`;
    const kept = await copyFile(this.path, copy).then(
      () => `; the file as it was is kept as ${copy}`,
      () => "",
    );
    return `${what} cannot be used${kept}.`;
  }
}

/** Whether a stored control is one that the studio ordered, or there is nothing to resume. */
function isProven(name: OrderedControl, kept: KeptControls, orders: StudioOrders): boolean {
  const control = kept[name];
  const ended =
    control === null || ("state" in control && control.state !== "running") || ("endedMs" in control && control.endedMs !== null);
  if (!orders.areSigned || ended) return true;
  const statement = orders.proven(kept.proofs[name]);
  const request = requestSchemas[name].parse(control);
  return statement?.order === `PUT ${controlPaths[name]}` && statement.body === hashOf(request);
}
