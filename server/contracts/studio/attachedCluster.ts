import { z } from "zod";
import type { EngineLimits, LimitSource } from "@/solver/hardware/engineLimits";
import { keyReferenceSchema } from "@/solver/wording/keyReference";
import type { SecretUse } from "../engine/engineAccess";

/** The subject of a check when an endpoint or a connection is tried. */
export type FindingWhat =
  | "reached"
  | "certificate"
  | "key"
  | "models"
  | "health"
  | "engine"
  | "metrics"
  | "token"
  | "connection"
  | "nodes"
  | "gpus"
  | "engines"
  | "gateway"
  | "judge";

/** One finding, for an operator. */
export interface Finding {
  readonly what: FindingWhat;
  /** `warn`: it can be attached, but something will be missing. */
  readonly level: "ok" | "warn" | "failed";
  readonly sentence: string;
  /** The remedy; null if there is none. */
  readonly next: string | null;
  /** The secret that is not sent to an origin until an operator allows it, where that is the obstacle. */
  readonly allow?: SecretUse;
}

/** An endpoint to try: it may have been read before and given a key or another name. Its content is checked when it is tried. */
export const endpointToTrySchema = z.object({
  name: z.string().min(1).max(200),
  url: z.string().min(1).max(2_000),
  key: keyReferenceSchema.optional(),
  caFile: z.string().min(1).max(1_000).optional(),
  /** The chosen one of its served models; absent: the first with a card. */
  servedName: z.string().min(1).max(500).optional(),
});
export type EndpointToTry = Readonly<z.infer<typeof endpointToTrySchema>>;

/** Fields of an endpoint that cannot be detected and were not given. */
export type GuessedField = "model" | "gpu" | "tp" | "pp" | "precision";

/** An endpoint in the form in which it would be attached. */
export interface EndpointDraft extends EndpointToTry {
  /** Id of the card of the model. */
  readonly model: string;
  /** For an adapter: the id of the card of its parent, whose engine it shares. */
  readonly adapterOf?: string | undefined;
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  readonly precision: "bf16" | "fp8" | "int4";
  readonly guessed: readonly GuessedField[];
  /** Limits with which the engine was started; absent: not given, and its defaults are assumed. */
  readonly limits?: (EngineLimits & { readonly source: LimitSource }) | undefined;
}

/** An endpoint that was tried. */
export interface TriedEndpoint {
  readonly tried: EndpointToTry;
  readonly findings: readonly Finding[];
  /** Names it lists. */
  readonly served: readonly string[];
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** null: none of its models has a card. */
  readonly draft: EndpointDraft | null;
  /** Adapters that it lists for the model of the draft: their names there. */
  readonly adapters: readonly string[];
  readonly guesses: readonly { readonly field: GuessedField; readonly why: string }[];
  /** What the operator must state before it can be attached, a sentence each. */
  readonly questions: readonly string[];
}

/** Events of trying pasted addresses, in this order: what was read, then each endpoint as soon as its result is known. */
export type TryEvent =
  | { readonly kind: "read"; readonly endpoints: readonly EndpointToTry[]; readonly notes: readonly string[] }
  | { readonly kind: "tried"; readonly endpoint: TriedEndpoint }
  | { readonly kind: "refused"; readonly message: string };

/** A connection as text that was read and tried; nothing is stored. `connection` null: it cannot be attached in this form. */
export interface TriedConnection {
  readonly connection: unknown;
  /** In its stored form, in YAML, with defaults filled in. */
  readonly text: string | null;
  readonly findings: readonly Finding[];
}

/** Something that needs an operator's attention, and where. */
export interface Attention {
  readonly level: "warn" | "bad";
  readonly subject: string;
  readonly sentence: string;
  readonly next: string | null;
}

/** A node as observed. */
interface ClusterNode {
  readonly name: string;
  readonly gpu: string;
  readonly gpus: number;
  /** In use by engines that Weir knows, and by other processes. */
  readonly used: number;
  readonly othersUse: number;
  readonly closed: string | null;
}

/** An engine as observed. */
export interface ClusterEngine {
  readonly id: string;
  readonly model: string;
  /** The engine's own name of the model. */
  readonly served: string;
  /** Root of its API; empty: it does not exist. */
  readonly url: string;
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  readonly place: string;
  /**
   * `silent`: it should answer and does not; `not routed`: it runs and the gateway sends nothing there; `missing`: it should serve and does
   * not exist.
   */
  readonly state: "serving" | "silent" | "draining" | "not routed" | "stopping" | "missing";
  /** From its metrics; null until they were read. */
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** Figures missing in its metrics, each with the name that was looked for. */
  readonly absent: readonly string[];
}

/** Differences between the desired, the generated and the actual state. */
export interface DriftLine {
  readonly of: "engine" | "routing" | "policy" | "hardware" | "object";
  readonly subject: string;
  /** By the plan in force. */
  readonly desired: string;
  /** Weir's output for it on this kind of cluster. */
  readonly generated: string;
  readonly actual: string;
  /** A sentence for an operator. */
  readonly says: string;
}

/** Drift of a cluster; nothing is ever corrected without a request. */
export interface ClusterDrift {
  readonly planId: string | null;
  readonly checkedAt: string;
  readonly lines: readonly DriftLine[];
}

/** All data of a connected cluster. */
export interface ClusterDetail {
  readonly clusterId: string;
  /** YAML; null for the embedded one. */
  readonly connectionText: string | null;
  readonly gateway: { readonly url: string; readonly adminUrl: string; readonly runBy: "studio" | "operator" };
  /** `given`: its engines are started outside Weir, and plans change routing only. */
  readonly topology: "given" | "planned";
  /** null: not seen yet. */
  readonly observedAt: string | null;
  readonly nodes: readonly ClusterNode[];
  readonly engines: readonly ClusterEngine[];
  /** Models that judge answers there and are not among its engines, by the names in requests to them; empty: none, or not seen yet. */
  readonly judges: readonly string[];
  /** Objects there that are not Weir's, in sentences. */
  readonly notes: readonly string[];
  readonly attention: readonly Attention[];
  /** null: no plan is in force, or not seen yet. */
  readonly drift: ClusterDrift | null;
}
