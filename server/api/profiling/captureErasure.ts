import { type ControlledGateway, joined, noGateway } from "@/server/api/gateway/gatewayActs";
import { captureErasedSchema } from "@/server/contracts/gateway/gatewayControls";
import type { EraseCaptured, ErasedCaptured, Outcome, PromptSet } from "@/server/contracts/studio";
import type { Actor } from "../base/actor";
import { auditedRefusal } from "../base/auditedRefusal";
import type { ServiceParts } from "../base/serviceParts";

/** A gateway rewrites files of up to some gigabytes. */
const eraseLimitMs = 10 * 60_000;

interface CaptureErasureParts extends Pick<ServiceParts, "store" | "uploads"> {
  /** null: the cluster is not connected. */
  readonly gatewayOf: (clusterId: string) => ControlledGateway | null;
  /** Uploads that were taken from a cluster's gateway and are still there. */
  readonly unsampledOf: (clusterId: string) => readonly { readonly id: string; readonly isBeingSampled: boolean }[];
  /** Whether a running profile or batch still asks the prompts of a sample. */
  readonly isAsked: (setId: string) => boolean;
  /** Deletes the texts of samples, with an audit line each. */
  readonly forget: (sets: readonly PromptSet[], actor: Actor, why: string) => void;
}

/**
 * Deletes what is captured of one key or of one user: at the gateway, in files that were taken from it and not sampled yet, and every sample
 * that has a prompt of theirs, as a whole. Audited with the counts; of a user by pseudonym.
 */
export function createCaptureErasure({ store, uploads, gatewayOf, ...parts }: CaptureErasureParts) {
  return async ({ clusterId, of, reason }: EraseCaptured, actor: Actor): Promise<Outcome<ErasedCaptured>> => {
    const action = "erase captured prompts";
    const subject = store.clusters.get(clusterId)?.spec.name ?? clusterId;
    const about = { subject, objectKind: "capture", clusterId } as const;
    const refuse = (message: string) => auditedRefusal(store, { actor, action, ...about }, { ok: false, message } as const);
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const unsampled = parts.unsampledOf(clusterId);
    if (unsampled.some(({ isBeingSampled }) => isBeingSampled))
      return refuse("A sample of this gateway's prompts is being taken: wait until it is done.");
    const request = { method: "DELETE", body: { of, by: actor, reason }, schema: captureErasedSchema, limitMs: eraseLimitMs } as const;
    const answer = await gateway.admin("/captures", request);
    if (!answer.ok) return refuse(answer.message);
    const erased = answer.value.value;
    if (erased === null) return refuse("The gateway does not say what it deleted.");
    void gateway.audit.take();
    for (const { id } of unsampled) uploads.remove(id);
    const sets = store.prompts.ownedBy("key" in erased.of ? { clusterId, key: erased.of.key } : erased.of);
    const inUse = sets.filter(({ id }) => parts.isAsked(id));
    const free = sets.filter((set) => !inUse.includes(set));
    if (free.length > 0) parts.forget(free, actor, "captured prompts in it were to be deleted");
    const [objectId, name] =
      "key" in erased.of ? [erased.of.key, `the key ${erased.of.key}`] : [erased.of.user, `the user with the pseudonym ${erased.of.user}`];
    const counts = `of ${name}: ${erased.prompts} prompts at the gateway, ${free.length} samples`;
    const left = inUse.length === 0 ? "" : `${inUse.length} samples in use were not deleted`;
    store.audit.note(actor, action, { ...about, objectId }, joined([counts, left, reason]));
    const names = (some: readonly PromptSet[]): readonly string[] => some.map((set) => set.name);
    return { ok: true, prompts: erased.prompts, samples: names(free), inUse: names(inUse) };
  };
}
