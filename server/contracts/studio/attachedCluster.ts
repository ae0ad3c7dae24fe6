import { z } from "zod";
import type { EngineLimits, LimitSource } from "@/solver/hardware/engineLimits";
import { keyReferenceSchema } from "../engine/engineAccess";

/** What was looked at when an endpoint or a connection was tried. */
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

/** One thing that was found out, for an operator. */
export interface Finding {
  readonly what: FindingWhat;
  /** `warn`: it can be attached, and something will be missing. */
  readonly level: "ok" | "warn" | "failed";
  readonly sentence: string;
  /** What to do about it; null where there is nothing to do. */
  readonly next: string | null;
}

/** An endpoint to be tried: it may have been read before and given a key or another name. What it holds is checked when it is tried. */
export const endpointToTrySchema = z.object({
  name: z.string().min(1).max(200),
  url: z.string().min(1).max(2_000),
  key: keyReferenceSchema.optional(),
  caFile: z.string().min(1).max(1_000).optional(),
  /** Which of the models that it serves; left out: the first of which there is a card. */
  servedName: z.string().min(1).max(500).optional(),
});
export type EndpointToTry = Readonly<z.infer<typeof endpointToTrySchema>>;

/** What an endpoint cannot be asked and was not told. */
export type GuessedField = "model" | "gpu" | "tp" | "pp" | "precision";

/** An endpoint as it would be attached. */
export interface EndpointDraft extends EndpointToTry {
  /** Id of the card of the model. */
  readonly model: string;
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  readonly precision: "bf16" | "fp8" | "int4";
  readonly guessed: readonly GuessedField[];
  /** That the engine was started with; left out: nobody said, and its defaults are assumed. */
  readonly limits?: (EngineLimits & { readonly source: LimitSource }) | undefined;
}

/** An endpoint that was tried. */
export interface TriedEndpoint {
  readonly tried: EndpointToTry;
  readonly findings: readonly Finding[];
  /** Names it lists. */
  readonly served: readonly string[];
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** null: no model that there is a card of. */
  readonly draft: EndpointDraft | null;
  readonly guesses: readonly { readonly field: GuessedField; readonly why: string }[];
  /** What somebody has to say before it can be attached, a sentence each. */
  readonly questions: readonly string[];
}

/** What comes of pasted addresses, in this order: what was read, then each endpoint as soon as it is known. */
export type TryEvent =
  | { readonly kind: "read"; readonly endpoints: readonly EndpointToTry[]; readonly notes: readonly string[] }
  | { readonly kind: "tried"; readonly endpoint: TriedEndpoint }
  | { readonly kind: "refused"; readonly message: string };

/** A connection as text that was read and tried; nothing is kept. `connection` null: it cannot be attached as it is. */
export interface TriedConnection {
  readonly connection: unknown;
  /** As it would be kept, in YAML; what has a default filled in. */
  readonly text: string | null;
  readonly findings: readonly Finding[];
}

/** Something an operator should look at, and where. */
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
  /** In use by engines that Weir knows, and by what is none of Weir's. */
  readonly used: number;
  readonly othersUse: number;
  readonly closed: string | null;
}

/** An engine as observed. */
export interface ClusterEngine {
  readonly id: string;
  readonly model: string;
  readonly url: string;
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  readonly place: string;
  /** `silent`: it should answer and does not; `not routed`: it stands and the gateway sends nothing there; `missing`: it should serve and is gone. */
  readonly state: "serving" | "silent" | "draining" | "not routed" | "stopping" | "missing";
  /** As its metrics tell; null until they were read. */
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** Figures its metrics lack, each with the name that was looked for. */
  readonly absent: readonly string[];
}

/** How what is desired, what follows from it and what is there differ. */
export interface DriftLine {
  readonly of: "engine" | "routing" | "policy" | "hardware" | "object";
  readonly subject: string;
  /** By the plan in force. */
  readonly desired: string;
  /** What Weir makes of that for this kind of cluster. */
  readonly generated: string;
  readonly actual: string;
  /** For an operator, in a sentence. */
  readonly says: string;
}

/** Drift of a cluster; nothing is ever set right without being asked. */
export interface ClusterDrift {
  readonly planId: string | null;
  readonly checkedAt: string;
  readonly lines: readonly DriftLine[];
}

/** All that is known of a connected cluster. */
export interface ClusterDetail {
  readonly clusterId: string;
  /** YAML; null for the embedded one. */
  readonly connectionText: string | null;
  readonly gateway: { readonly url: string; readonly adminUrl: string; readonly runBy: "studio" | "operator" };
  /** `given`: its engines are started outside Weir, and plans change routing only. */
  readonly topology: "given" | "planned";
  /** null: it was not seen yet. */
  readonly observedAt: string | null;
  readonly nodes: readonly ClusterNode[];
  readonly engines: readonly ClusterEngine[];
  /** Models that judge answers there and are none of its engines', by the names that requests to them carry; empty: none, or it was not seen yet. */
  readonly judges: readonly string[];
  /** What is there and is none of Weir's, in sentences. */
  readonly notes: readonly string[];
  readonly attention: readonly Attention[];
  /** null: no plan is in force, or it was not seen yet. */
  readonly drift: ClusterDrift | null;
}
