import type { SecretUse } from "@/server/contracts/engine/engineAccess";
import type { Answerer, ProfileRequest } from "@/server/contracts/studio";
import { judgeOf } from "./profileShape";

/** The secret of an answerer at an address; those of clusters are their connections'. */
export const answererUses = ({ at }: Answerer): readonly SecretUse[] =>
  at.kind === "url" && at.key !== undefined ? [{ key: at.key, origin: new URL(at.url).origin }] : [];

/** The secrets that a profile sends, and where. */
export const profileUses = ({ models, measures }: ProfileRequest): readonly SecretUse[] =>
  [...models, ...measures.flatMap((measure) => judgeOf(measure) ?? [])].flatMap(answererUses);
