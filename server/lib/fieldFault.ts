import type { FieldFault, Refusal } from "@/server/contracts/studio";

/** Says what is wrong with a field in one sentence that begins with its path. */
export const faultSentence = ({ path, of, reason }: FieldFault): string => `${path}${of === undefined ? "" : ` (${of})`}: ${reason}`;

/** Refuses a request for one of its fields. */
export const refuseField = (field: FieldFault): Refusal => ({ ok: false, message: faultSentence(field), field });
