import type { StoredCall, StoredProfile } from "@/server/store/profileRepository";
import type { LedgerCall } from "./callLedger";
import { SAMPLES_ID } from "./gateReadings";
import type { Reading } from "./measures/reading";
import type { EarlierAttempts } from "./restoreCalls";

/** Of a call that was not begun before. */
export const none: EarlierAttempts = { attempts: 0, lost: 0, usd: 0 };

export const scoreOf = (reading: Reading) => ("score" in reading ? { score: reading.score } : { unscored: reading.unscored });

/** Calls of a job as the store keeps them. */
export function callRows({ id, request: { models, measures } }: StoredProfile) {
  const blank = (call: LedgerCall): StoredCall => ({
    ...{ profileId: id, position: call.position, model: models[call.model]?.model ?? "", reading: call.reading },
    ...{
      measureId: call.measure === null ? "" : (measures[call.measure]?.id ?? SAMPLES_ID),
      state: "waiting",
      at: new Date().toISOString(),
    },
    ...{ ...none, inputTokens: null, outputTokens: null, ttftSeconds: null, seconds: null, engine: null, inFlight: null },
    ...{ score: null, unscored: null, failure: null, cut: null, answer: null, confidence: null },
  });
  return {
    /** Nothing is known yet. */
    blank,
    /** A reading that took no call. */
    read: (call: LedgerCall, reading: Reading): StoredCall => ({ ...blank(call), ...scoreOf(reading), state: "done" }),
  };
}
