import { z } from "zod";
import { gatewayArtefactsSchema } from "@/server/contracts/gateway/gatewayLearning";
import { learntOf, type PolicyDocument } from "@/solver/plan/policySchema";
import type { AdminAnswer, AdminClient } from "./adminClient";

interface Ways {
  readonly gateway: AdminClient;
  /** Bytes of a saved predictor; null if it is no longer saved. */
  readonly artefactOf: (hash: string) => Uint8Array | null;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The trained predictors of a policy that must be uploaded to the gateway: they are missing there, or fail. Changes nothing.
 *
 * @returns a sentence if the gateway does not answer, or one is saved nowhere.
 */
export async function missingPredictors(
  policy: PolicyDocument,
  { gateway, artefactOf, signal }: Ways,
): Promise<AdminAnswer<readonly { readonly hash: string; readonly bytes: Uint8Array }[]>> {
  const hashes = learntOf(policy);
  if (hashes.length === 0) return { ok: true, value: [] };
  const there = await gateway("/artefacts", { schema: gatewayArtefactsSchema, signal });
  if (!there.ok) return there;
  const lacking: { readonly hash: string; readonly bytes: Uint8Array }[] = [];
  for (const hash of hashes) {
    if (there.value.value?.artefacts.some((kept) => kept.hash === hash && kept.fails !== true)) continue;
    const bytes = artefactOf(hash);
    if (bytes === null) {
      const message = `The plan names the predictor ${hash.slice(0, 12)}, which is neither at the gateway nor kept here: train it again, or take it out of the plan.`;
      return { ok: false, message, failure: "answered" };
    }
    lacking.push({ hash, bytes });
  }
  return { ok: true, value: lacking };
}

/** Uploads the trained predictors that a policy names to the gateway that will serve it: all of them, or none if one is saved nowhere. */
export async function uploadPredictors(policy: PolicyDocument, ways: Ways): Promise<AdminAnswer<object>> {
  const lacking = await missingPredictors(policy, ways);
  if (!lacking.ok) return lacking;
  const { gateway, signal } = ways;
  for (const { hash, bytes } of lacking.value) {
    const brought = await gateway(`/artefacts/${hash}`, { method: "PUT", body: bytes, schema: z.unknown(), signal });
    if (!brought.ok) return brought;
  }
  return { ok: true, value: {} };
}
