import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { z } from "zod";
import {
  hashOf,
  readPublicKey,
  readStatement,
  revisionHeader,
  type SignedPart,
  type SignedParts,
  type Statement,
  signatureHeader,
} from "@/server/contracts/gateway/signedOrder";
import { reasonOf } from "@/server/lib/reasonOf";
import type { ApiError } from "../http/apiError";
import { isMissing, writeDurably } from "../lib/durableFile";

/** The studio whose orders a gateway follows. */
export interface TrustedStudio {
  /** Its public key; several while it is replaced. */
  readonly keys: readonly KeyObject[];
  /** The cluster of the gateway; null: that of the first order. */
  readonly clusterId: string | null;
}

/** An order that may be carried out, with its signed text; null: this gateway accepts unsigned orders. */
export type AcceptedOrder = { readonly text: string; readonly parts: SignedParts; readonly statement: Statement } | null;

type OnRefused = (request: IncomingMessage, refusal: ApiError) => void;

/** The signed text for each part of a configuration. */
export type Proofs = { readonly [Part in SignedPart]?: string | undefined };

const keptSchema = z.object({
  clusterId: z.string().nullable().default(null),
  revision: z.int().default(0),
  /** ETag of a configuration that was in force before this gateway knew a studio; it is served until the studio signs another. */
  unsignedEtag: z.string().nullable().default(null),
});

/**
 * Decides which orders come from the studio: signed with its key, for this cluster, and newer than the last one. What it has accepted is kept
 * in one file of the state directory.
 */
export class StudioOrders {
  readonly #path: string;
  readonly #studio: TrustedStudio | null;
  readonly #onRefused: OnRefused;
  #kept: z.infer<typeof keptSchema> | null = null;
  /** Why its file cannot be used. */
  #problem: string | null = null;

  /**
   * @param studio null: everybody with the admin token may change everything.
   * @param onRefused called with each order that is not accepted.
   */
  constructor(stateDirectory: string, studio: TrustedStudio | null, onRefused: OnRefused) {
    this.#path = join(stateDirectory, "studio.json");
    this.#studio = studio;
    this.#onRefused = onRefused;
  }

  get areSigned(): boolean {
    return this.#studio !== null;
  }

  /** @returns why the file cannot be used, in one sentence; then no order is accepted. */
  async load(): Promise<string | null> {
    try {
      this.#kept = keptSchema.parse(JSON.parse(await readFile(this.#path, "utf8")));
      return null;
    } catch (error) {
      if (!isMissing(error)) this.#problem = `${this.#path} cannot be used: ${reasonOf(error)}. No order is accepted until it is repaired.`;
      return this.#problem;
    }
  }

  /** Checks an order and remembers its revision, durably. */
  async accept(request: IncomingMessage, body: unknown): Promise<AcceptedOrder | ApiError> {
    const order = await this.#check(request, body);
    if (order !== null && "status" in order) this.#onRefused(request, order);
    return order;
  }

  async #check({ method, url, headers }: IncomingMessage, body: unknown): Promise<AcceptedOrder | ApiError> {
    if (this.#studio === null) return null;
    if (this.#problem !== null) return refused("no_revision", this.#problem);
    const text = headers[signatureHeader];
    if (typeof text !== "string") return refused("unsigned_order", unsigned);
    const statement = readStatement(text, this.#studio.keys);
    if (statement === null) return refused("foreign_signature", foreign);
    if (statement.order !== `${method} ${url}` || statement.body !== hashOf(body)) return refused("altered_order", altered);
    const { clusterId, revision } = statement;
    const own = this.#cluster;
    if (own !== null && clusterId !== own)
      return refused("other_cluster", `This order was signed for the cluster ${clusterId}, and this gateway serves ${own}.`);
    if (revision <= this.revision)
      return {
        ...refused(oldRevision, `This order has revision ${revision}, and the gateway has accepted ${this.revision} already.`),
        status: 409,
      };
    await this.#keep({ clusterId, revision });
    return { text, parts: statement.parts, statement };
  }

  /** Revision of the last accepted order. */
  get revision(): number {
    return this.#kept?.revision ?? 0;
  }

  /** Headers of a refusal: for an order with an old revision the last accepted one, so that the studio can sign it again. */
  revisionHeaders({ code }: ApiError): Readonly<Record<string, string>> {
    return code === oldRevision ? { [revisionHeader]: String(this.revision) } : {};
  }

  /** Whether a stored text was signed by the studio for this cluster. Returns what it says; null: it was not. */
  proven(text: string | undefined): Statement | null {
    const statement = text === undefined || this.#studio === null ? null : readStatement(text, this.#studio.keys);
    return statement !== null && (this.#cluster === null || statement.clusterId === this.#cluster) ? statement : null;
  }

  /** Whether the configuration of an earlier start without any signature may be served: the one that was there when signing began. */
  async admitsUnsigned(etag: string): Promise<boolean> {
    if (this.#kept === null && this.#problem === null) await this.#keep({ unsignedEtag: etag });
    return this.#kept?.unsignedEtag === etag;
  }

  /** From now on this is a gateway whose orders are signed, whatever its state directory holds. */
  async begin(): Promise<void> {
    if (this.#studio !== null && this.#kept === null && this.#problem === null) await this.#keep({});
  }

  get #cluster(): string | null {
    return this.#studio?.clusterId ?? this.#kept?.clusterId ?? null;
  }

  async #keep(part: Partial<z.infer<typeof keptSchema>>): Promise<void> {
    const kept = { ...(this.#kept ?? keptSchema.parse({})), ...part };
    await writeDurably(this.#path, JSON.stringify(kept));
    this.#kept = kept;
  }
}

/**
 * The studio that a gateway is told to trust.
 *
 * @param text `none`, public keys as text, or the path of a file with one key a line.
 * @throws Error with one sentence if there is no key.
 */
export async function trustedStudio(text: string, clusterId: string | null): Promise<TrustedStudio | null> {
  if (text === "none") return null;
  if (text === "") throw new Error(untold);
  const lines = text.startsWith("ed25519:") ? text : await readFile(text, "utf8");
  const keys = lines
    .split(/\s+/)
    .filter((line) => line !== "")
    .map(readPublicKey);
  const known = keys.filter((key) => key !== null);
  if (known.length === 0 || known.length < keys.length)
    throw new Error("WEIR_STUDIO_PUBLIC_KEY holds no key of the form ed25519:BASE64URL.");
  return { keys: known, clusterId };
}

const oldRevision = "old_revision";

const refused = (code: string, message: string): ApiError => ({ status: 403, message, type: "permission_error", code });

const unsigned = "This order is not signed by the studio: the admin token alone puts nothing new into force.";
const foreign = "This order is not signed by the studio of this gateway: another studio signed it, or its signature was altered.";
const altered = "This is not the order that the studio signed: its path or its body was altered.";
const untold =
  "WEIR_STUDIO_PUBLIC_KEY is not set: give it the studio's public key (studio-key.pub in the studio's state folder), or none, which lets everybody with the admin token put plans into force.";
